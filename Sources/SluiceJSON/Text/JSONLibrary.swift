import CJansson

/// The library behind this module.
package enum JSONLibrary {
  /// Of the jansson that is loaded, which plugins share.
  package static var version: String { String(cString: jansson_version_str()) }
}
