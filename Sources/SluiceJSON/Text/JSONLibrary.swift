import CJansson

/// The library behind this module.
public enum JSONLibrary {
  /// Of the jansson that is loaded, which plugins share.
  public static var version: String { String(cString: jansson_version_str()) }
}
