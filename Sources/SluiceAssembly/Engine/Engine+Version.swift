extension Engine {
  /// The version of the engine, which plugins can read.
  public static let version = ProductVersion.text
}
