public import SluiceAssembly
public import Sluice
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// Sends requests through an engine, with the calls that one expects of an HTTP client.
///
///     let client = try Client()
///     let (bytes, response) = try await client.data(from: "https://example.com/")
///     await client.shutdown()
///
/// The client is a façade: the engine decides about stages, retries, redirects and limits. It can be used from any
/// thread. A call that is made in a task that prefers a loop of the engine stays on that loop.
///
/// Every call fails with the code `cancelled` when its task or the given `Cancellation` is cancelled, at any time, even
/// before the call has begun.
public final class Client: Sendable {
  /// Runs the requests.
  public let engine: Engine
  /// Asked about every request of this client, after the delegate of the call.
  let delegate: (any TransactionDelegate)?
  let acceptsEveryStatus: Bool
  private let ownsEngine: Bool
  private let number = DelegateChain.nextClient()

  /// A client with its own engine. End it with ``shutdown(drain:)``.
  ///
  /// - Parameters:
  ///   - configuration: the stages, the transport, the limits.
  ///   - delegate: asked about every request of this client, after the delegate of the call; retained by the client.
  ///   - acceptsEveryStatus: whether a response with an error status, such as 404, is a result, as in URLSession. If
  ///     false, such a response fails with `http_status`, as in the engine. Downloads fail with it in any case.
  /// - Throws: the errors of `Engine.init`.
  public init(
    _ configuration: Configuration = Configuration(), delegate: (any TransactionDelegate)? = nil,
    acceptsEveryStatus: Bool = true
  ) throws(EngineError) {
    engine = try Engine(configuration)
    ownsEngine = true
    self.delegate = delegate
    self.acceptsEveryStatus = acceptsEveryStatus
  }

  /// A client of an engine that the caller owns and must shut down.
  ///
  /// - Parameters: as for ``init(_:delegate:acceptsEveryStatus:)``. The delegate of the engine is asked last.
  public init(engine: Engine, delegate: (any TransactionDelegate)? = nil, acceptsEveryStatus: Bool = true) {
    self.engine = engine
    ownsEngine = false
    self.delegate = delegate
    self.acceptsEveryStatus = acceptsEveryStatus
  }

  /// The delegates that are asked in a call of this client.
  ///
  /// - Parameter own: the delegate of the call.
  func delegates(_ own: (any TransactionDelegate)?) -> (any TransactionDelegate)? {
    DelegateChain.of(own, delegate, client: number)
  }

  /// Ends the engine of this client; see `Engine.shutdown`. Does nothing if the client does not own the engine.
  ///
  /// - Parameter drain: how much time running requests have to finish.
  public func shutdown(drain: Duration = .seconds(30)) async {
    if ownsEngine { await engine.shutdown(drain: drain) }
  }
}
