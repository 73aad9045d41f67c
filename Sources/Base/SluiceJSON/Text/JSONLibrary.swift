import CJansson

/// The library behind this module.
package enum JSONLibrary {
  /// The version of the loaded jansson, which plugins share.
  package static var version: String { String(cString: jansson_version_str()) }
}
