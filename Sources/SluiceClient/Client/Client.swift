import Sluice
public import SluiceAssembly
public import SluiceEngine
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// Sends requests through an engine, with the calls that programs expect of an HTTP client.
///
///     let client = try Client()
///     let (bytes, response) = try await client.data(from: "https://example.com/")
///     await client.shutdown()
///
/// A façade: stages, retries, redirects and limits are those of the engine. Can be used from any thread. A call that is
/// made in a task that prefers a loop of the engine stays on that loop.
///
/// Every call ends when its task is cancelled, or when the `Cancellation` that it was given is cancelled: with the code
/// `cancelled`, at any moment, also before it has begun.
public final class Client: Sendable {
  /// Runs the requests.
  public let engine: Engine
  /// Asked about every request of this client, after the delegate of the call.
  let delegate: (any TransactionDelegate)?
  let acceptsEveryStatus: Bool
  private let ownsEngine: Bool
  private let number = DelegateChain.nextClient()

  /// A client with an engine of its own. End it with ``shutdown(drain:)``.
  ///
  /// - Parameters:
  ///   - configuration: the stages, the transport, the limits.
  ///   - delegate: asked about every request of this client, after the delegate of the call; retained by the client.
  ///   - acceptsEveryStatus: whether a response with an error status, such as 404, is a result, as in URLSession. With
  ///     false it fails with `http_status`, as in the engine. Downloads always fail.
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

  /// A client of an engine that belongs to someone else, who also ends it.
  ///
  /// - Parameters: as for ``init(_:delegate:acceptsEveryStatus:)``. The engine's own delegate is asked last.
  public init(engine: Engine, delegate: (any TransactionDelegate)? = nil, acceptsEveryStatus: Bool = true) {
    self.engine = engine
    ownsEngine = false
    self.delegate = delegate
    self.acceptsEveryStatus = acceptsEveryStatus
  }

  /// The delegates that a call of this client asks.
  ///
  /// - Parameter own: that of the call itself.
  func delegates(_ own: (any TransactionDelegate)?) -> (any TransactionDelegate)? {
    DelegateChain.of(own, delegate, client: number)
  }

  /// Ends the engine of this client: see `Engine.shutdown`. Does nothing to an engine that the client does not own.
  ///
  /// - Parameter drain: for how long requests may still finish.
  public func shutdown(drain: Duration = .seconds(30)) async {
    if ownsEngine { await engine.shutdown(drain: drain) }
  }
}
