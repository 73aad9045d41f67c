public import SluiceJSON
public import SluiceMessages
package import SluicePipeline
public import SluicePlugin

/// A stage in Swift inside of the program: closures, a value that conforms to the protocols of stages, or a whole
/// ``Plugin``.
///
/// The engine runs it as it runs the stage of a library, so the same code works in both places.
public struct StageCode: Sendable {
  /// Called before a request is sent; may change the whole request, like ``RequestInterceptor``.
  public typealias RequestFunction = @Sendable (StageRequest, RequestContext) async throws -> Void
  /// Called before each hop is sent; may change only the headers of that hop, and cannot wait, like
  /// ``IssueInterceptor``.
  public typealias IssueFunction = @Sendable (StageRequest, RequestContext) throws -> Void
  /// Called with a response; may change it, ask for another attempt or fail, like ``ResponseInterceptor``.
  public typealias ResponseFunction = @Sendable (StageResponse, ResponseContext) async throws -> Void
  /// Called when an attempt has failed without a response. Returning keeps the failure, like ``FailureInterceptor``.
  public typealias FailureFunction = @Sendable (Failure, StageRequest, ResponseContext) async throws -> Void
  /// Called before a redirect is followed. Throwing fails the transaction, like ``RedirectInterceptor``.
  public typealias RedirectFunction =
    @Sendable (Redirect, StageResponse, ResponseContext) async throws -> RedirectDecision
  /// Called for each challenge of a 401 or 407 response, in order. Throwing fails the transaction, like
  /// ``ChallengeInterceptor``.
  public typealias ChallengeFunction =
    @Sendable (ChallengeOffer, StageResponse, ResponseContext) async throws -> ChallengeDecision
  /// Gets each event of a transaction, like ``TransactionTracer``. The event is lent for the call.
  public typealias TraceFunction = @Sendable (borrowing TransactionEvent) -> Void

  enum Form: Sendable {
    case hosted(ProgramStage)
    /// A part of the engine or the command, which the pipeline calls directly.
    case direct(PipelineStage)
    /// It cannot work; the engine says so when it begins.
    case unusable(StageFailure)
  }

  let form: Form
  /// Applies to a ``Plugin``.
  let configuration: JSONValue
  /// The tracer is a part of the program that never waits, so it is neither timed nor switched off.
  var isTrustedTracer = false

  /// A stage of closures. For what each may do, see the corresponding protocol: ``RequestInterceptor``,
  /// ``IssueInterceptor``, ``ResponseInterceptor``, ``FailureInterceptor``, ``RedirectInterceptor``,
  /// ``ChallengeInterceptor`` and ``TransactionTracer``.
  public init(
    request: RequestFunction? = nil, issue: IssueFunction? = nil, response: ResponseFunction? = nil,
    failure: FailureFunction? = nil, redirect: RedirectFunction? = nil, challenge: ChallengeFunction? = nil,
    trace: TraceFunction? = nil, options: PluginOptions = []
  ) {
    let functions = StageFunctions(
      request: request, issue: issue, response: response, failure: failure, redirect: redirect, challenge: challenge,
      trace: trace)
    form = .hosted(ProgramStage(functions.parts, options: options))
    configuration = .object()
  }

  /// Uses every stage protocol that the value conforms to. A type is taken as a plugin instead.
  /// - Parameter options: added to those of a ``Plugin``.
  @_disfavoredOverload public init(_ stage: any Sendable, options: PluginOptions = []) {
    do { form = .hosted(try ProgramStage(stage, options: options)) } catch { form = .unusable(error) }
    configuration = .object()
  }

  /// Creates an instance of a plugin, as a configuration file does with the plugin's library.
  public init(_ plugin: any Plugin.Type, configuration: JSONValue = .object()) {
    do { form = .hosted(try ProgramStage(plugin)) } catch { form = .unusable(error) }
    self.configuration = configuration
  }

  /// A stage that the pipeline calls directly.
  package init(direct stage: any Interceptor & Tracer) {
    form = .direct(PipelineStage(interceptor: stage, tracer: stage))
    configuration = .object()
  }

  /// A tracer that the pipeline calls directly.
  /// - Parameter isTrusted: whether it never waits, so that it is neither timed nor switched off.
  package init(isTrusted: Bool = false, observing: @escaping @Sendable (TraceEvent) -> Void) {
    form = .direct(PipelineStage(tracer: ObservingTracer(observing)))
    configuration = .object()
    isTrustedTracer = isTrusted
  }
}

/// Passes events on to a closure.
private final class ObservingTracer: Tracer {
  private let observe: @Sendable (TraceEvent) -> Void

  init(_ observe: @escaping @Sendable (TraceEvent) -> Void) { self.observe = observe }

  func record(_ event: TraceEvent) { observe(event) }
}
