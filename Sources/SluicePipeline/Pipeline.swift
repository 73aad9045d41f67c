public import SluiceMetrics

/// The whole pipeline as one immutable value: what a transaction pins when it begins, and finishes on.
public final class Pipeline: Sendable {
  public let requestStages: [StageBinding]
  public let issueStages: [StageBinding]
  public let responseStages: [StageBinding]
  public let tracers: [TracerBinding]
  public let settings: PipelineSettings
  /// Counts published pipelines of one engine from 1.
  public let generation: Int
  /// What is counted on each loop, by the loop's index.
  public let metrics: [PipelineMetrics]
  /// Kept alive as long as any transaction runs on this pipeline: instances, libraries.
  private let resources: [any AnyObject & Sendable]

  /// Each list holds the stages in the order in which they are called.
  /// - Parameter loops: how many loops the engine has.
  public init(
    requestStages: [StageBinding] = [], issueStages: [StageBinding] = [], responseStages: [StageBinding] = [],
    tracers: [TracerBinding] = [], settings: PipelineSettings = PipelineSettings(), generation: Int = 1, loops: Int = 1,
    resources: [any AnyObject & Sendable] = []
  ) {
    self.requestStages = requestStages
    self.issueStages = issueStages
    self.responseStages = responseStages
    self.tracers = tracers
    self.settings = settings
    self.generation = generation
    self.resources = resources
    metrics = (0..<loops).map { _ in
      PipelineMetrics(
        requestStages: requestStages.map(\.name), issueStages: issueStages.map(\.name),
        responseStages: responseStages.map(\.name), tracers: tracers.map(\.name))
    }
    traced = tracers.reduce(into: TraceInterests()) { $0.formUnion($1.interests) }
    responseStagesWantBody = responseStages.contains { $0.capabilities.contains(.wantsResponseBody) }
    changesRequestPieces = requestStages.contains { $0.capabilities.contains(.requestPieces) }
    changesResponsePieces = responseStages.contains { $0.capabilities.contains(.responsePieces) }
    retriesStatuses = !settings.retry.statuses.isEmpty
    retriesFailures = settings.retry.concernsFailures
  }

  /// What any tracer is told.
  let traced: TraceInterests
  let responseStagesWantBody: Bool
  let changesRequestPieces: Bool
  let changesResponsePieces: Bool
  let retriesStatuses: Bool
  let retriesFailures: Bool
}

/// What holds for every transaction of a pipeline.
public struct PipelineSettings: Sendable {
  /// Bounds a whole transaction; nil for none.
  public var deadline: Duration?
  /// Bounds one attempt on the wire.
  public var attemptTimeout: Duration
  /// Attempts of one transaction, the first included; at least 1.
  public var maximumAttempts: Int
  /// What the engine repeats by itself.
  public var retry: RetryPolicy
  public var transfer: TransferOptions
  public var requestIDHeader: String
  /// Which statuses are a success.
  public var acceptedStatuses: StatusSet
  /// What else is asked of a response; nil where its status is all.
  public var checks: ResponseChecks?

  public init(
    deadline: Duration? = .seconds(60), attemptTimeout: Duration = .seconds(30), maximumAttempts: Int = 3,
    retry: RetryPolicy = RetryPolicy(), transfer: TransferOptions = TransferOptions(),
    requestIDHeader: String = "X-Request-ID",
    acceptedStatuses: StatusSet = .notAnError, checks: ResponseChecks? = nil
  ) {
    self.deadline = deadline
    self.attemptTimeout = attemptTimeout
    self.maximumAttempts = max(1, maximumAttempts)
    self.retry = retry
    self.transfer = transfer
    self.requestIDHeader = requestIDHeader
    self.acceptedStatuses = acceptedStatuses
    self.checks = checks
  }
}

/// A set of status codes, given as codes and classes.
public struct StatusSet: Sendable, Hashable {
  public private(set) var ranges: [ClosedRange<Int>]

  public init(_ ranges: [ClosedRange<Int>]) { self.ranges = ranges }

  /// Everything below 400.
  public static let notAnError = StatusSet([100...399])

  public var isEmpty: Bool { ranges.isEmpty }

  public func contains(_ status: Int) -> Bool { ranges.contains { $0.contains(status) } }
}
