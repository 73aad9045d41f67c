import CMicrohttpd

/// The library behind this module.
public enum ServerLibrary {
  /// Of the libmicrohttpd that is loaded.
  public static var version: String { MHD_get_version().map { String(cString: $0) } ?? "unknown" }
}
