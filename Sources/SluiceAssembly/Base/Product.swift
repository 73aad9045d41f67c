/// What the product says of itself.
package enum Product {
  /// The Makefile takes it from this line.
  package static let version = "0.1.0"
  /// When this version was made, in seconds since 1970-01-01T00:00:00Z: 2026-11-26. A clock that is earlier is wrong.
  package static let madeAtSeconds: Int64 = 1_795_651_200
}
