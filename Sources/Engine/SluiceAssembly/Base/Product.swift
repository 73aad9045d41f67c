/// The version of Sluice, and its date.
package enum Product {
  /// The Makefile reads the version from this line.
  package static let version = "0.1.0"
  /// When this version was made, in seconds since 1970-01-01T00:00:00Z: 2026-11-26. A clock that shows an earlier time
  /// is wrong.
  package static let madeAtSeconds: Int64 = 1_795_651_200
}
