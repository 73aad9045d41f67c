import CMicrohttpd

/// The library behind this module.
public enum ServerLibrary {
  /// The version of the loaded libmicrohttpd.
  public static var version: String { MHD_get_version().map { String(cString: $0) } ?? "unknown" }
}
