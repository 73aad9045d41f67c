public import SluiceJSON
public import SluiceMessages
package import SluicePipeline
public import SluicePlugin

/// A stage in Swift inside of the program: closures, a value that conforms to the protocols of stages, or a whole
/// `Plugin`.
///
/// The engine runs such a stage like that of a library, so the same code works in both places.
public struct StageCode: Sendable {
  enum Form: Sendable {
    case hosted(ProgramStage)
    /// A part of the engine or the command, which the pipeline calls directly.
    case direct(PipelineStage)
    /// The stage cannot work; the engine reports this when it starts.
    case unusable(StageFailure)
  }

  let form: Form
  /// The configuration, if the stage is a ``Plugin``.
  let configuration: JSONValue
  /// Whether the tracer is a part of the program that never waits; it is then neither timed nor switched off.
  var isTrustedTracer = false

  /// A stage of closures. Each does what the method of a protocol does.
  ///
  /// - Parameters:
  ///   - request: as in `RequestInterceptor`.
  ///   - issue: as in `IssueInterceptor`; cannot wait.
  ///   - response: as in `ResponseInterceptor`.
  ///   - failure: as in `FailureInterceptor`.
  ///   - redirect: as in `RedirectInterceptor`.
  ///   - challenge: as in `ChallengeInterceptor`.
  ///   - trace: as in `TransactionTracer`; the event is lent for the call.
  public init(
    request: (@Sendable (StageRequest, RequestContext) async throws -> Void)? = nil,
    issue: (@Sendable (StageRequest, RequestContext) throws -> Void)? = nil,
    response: (@Sendable (StageResponse, ResponseContext) async throws -> Void)? = nil,
    failure: (@Sendable (Failure, StageRequest, ResponseContext) async throws -> Void)? = nil,
    redirect: (@Sendable (Redirect, StageResponse, ResponseContext) async throws -> RedirectDecision)? = nil,
    challenge: (@Sendable (ChallengeOffer, StageResponse, ResponseContext) async throws -> ChallengeDecision)? = nil,
    trace: (@Sendable (borrowing TransactionEvent) -> Void)? = nil, options: PluginOptions = []
  ) {
    let functions = StageFunctions(
      request: request, issue: issue, response: response, failure: failure, redirect: redirect, challenge: challenge,
      trace: trace)
    form = .hosted(ProgramStage(functions.parts, options: options))
    configuration = .object()
  }

  /// Makes a stage from a value, which is called through every stage protocol to which it conforms. If you pass a type,
  /// the type is used as a plugin.
  /// - Parameter options: added to those of a `Plugin`.
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
  /// - Parameter isTrusted: whether its tracer never waits, so that it is neither timed nor switched off.
  package init(direct stage: any Interceptor & Tracer, isTrusted: Bool = false) {
    form = .direct(PipelineStage(interceptor: stage, tracer: stage))
    configuration = .object()
    isTrustedTracer = isTrusted
  }

  /// A tracer that the pipeline calls directly.
  /// - Parameter isTrusted: whether the tracer never waits, so that it is neither timed nor switched off.
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
