/// What the product says of itself.
package enum Product {
  /// The Makefile takes it from this line.
  package static let version = "0.1.0"
}
