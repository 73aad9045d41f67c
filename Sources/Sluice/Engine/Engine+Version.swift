extension Engine {
  /// The version of the engine, which plugins can read.
  public static let version = "0.1.0"
}
