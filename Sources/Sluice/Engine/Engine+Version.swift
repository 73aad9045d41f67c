extension Engine {
  /// The version of the engine; plugins are told it.
  public static let version = "0.1.0"
}
