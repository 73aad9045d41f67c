extension Engine {
  /// The version of the product, which plugins can read. The Makefile takes it from this line.
  public static let version = "0.1.0"
}
