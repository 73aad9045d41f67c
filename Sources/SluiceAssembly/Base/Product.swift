/// What the product says of itself.
enum Product {
  /// The Makefile takes it from this line.
  static let version = "0.1.0"
}
