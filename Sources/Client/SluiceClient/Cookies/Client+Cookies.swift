public import SluiceAssembly
public import SluiceCookies
public import Sluice

extension Client {
  /// A client with its own engine that sends the cookies of a jar, and stores the cookies that responses set.
  ///
  /// For an engine that you own, use `Configuration.addCookies(_:name:)`.
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
