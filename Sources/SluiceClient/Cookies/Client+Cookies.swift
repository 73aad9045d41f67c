public import SluiceAssembly
public import SluiceCookies
public import SluiceEngine

extension Client {
  /// A client with an engine of its own that sends the cookies of a jar, and takes those that responses set.
  ///
  /// For an engine of someone else, use `Configuration.addCookies(_:name:)`.
  ///
  /// - Parameters: as for ``init(_:delegate:acceptsEveryStatus:)``. The jar is retained by the engine.
  public convenience init(
    _ configuration: Configuration = Configuration(), cookies jar: CookieJar,
    delegate: (any TransactionDelegate)? = nil, acceptsEveryStatus: Bool = true
  ) throws(EngineError) {
    var configuration = configuration
    configuration.addCookies(jar)
    try self.init(configuration, delegate: delegate, acceptsEveryStatus: acceptsEveryStatus)
  }
}
