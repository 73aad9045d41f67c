import SluiceAssembly

extension Engine {
  /// The version of the product, which plugins can read.
  public static let version = Product.version
}
