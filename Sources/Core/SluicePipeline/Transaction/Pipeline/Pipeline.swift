package import SluiceMessages

/// The whole pipeline as one immutable value. A transaction uses the same pipeline from its beginning to its end.
package final class Pipeline: Sendable {
  package let requestStages: [StageBinding]
  package let issueStages: [StageBinding]
  package let responseStages: [StageBinding]
  package let tracers: [TracerBinding]
  /// The stages that are asked about redirects and challenges: each instance once, at its first place in the lists of
  /// request, issue and response stages.
  let hopStages: [StageBinding]
  /// The engine's delegate. It is asked after the stages and the transaction's own delegate.
  let delegate: StageBinding?
  package let settings: PipelineSettings
  /// Counts published pipelines of one engine from 1.
  package let generation: Int
  /// The counts of each loop, by the loop's index.
  package let metrics: [PipelineMetrics]
  /// The sum of the counts of all loops. Can be read on any thread.
  package var counts: MetricsSnapshot { MetricsSnapshot(merging: metrics.map { $0.snapshot() }) }
  /// The transactions that run on this pipeline, for each loop, by the loop's index.
  package let leases: [PipelineLeases]
  /// Objects that must live as long as a transaction runs on this pipeline: instances, libraries.
  private let resources: [any AnyObject & Sendable]

  /// Each list holds the stages in the order in which they are called.
  /// - Parameter loops: the number of the engine's loops.
  package init(
    requestStages: [StageBinding] = [], issueStages: [StageBinding] = [], responseStages: [StageBinding] = [],
    tracers: [TracerBinding] = [], settings: PipelineSettings = PipelineSettings(), generation: Int = 1, loops: Int = 1,
    resources: [any AnyObject & Sendable] = [], delegate: StageBinding? = nil
  ) {
    self.requestStages = requestStages
    self.issueStages = issueStages
    self.responseStages = responseStages
    self.tracers = tracers
    let hopStages = Self.hopStages(requestStages + issueStages + responseStages)
    self.hopStages = hopStages
    self.delegate = delegate
    self.settings = settings
    self.generation = generation
    self.resources = resources
    metrics = (0..<loops).map { _ in
      PipelineMetrics(
        requestStages: requestStages.map(\.name), issueStages: issueStages.map(\.name),
        responseStages: responseStages.map(\.name), hopStages: hopStages.map(\.name), tracers: tracers.map(\.name))
    }
    leases = (0..<loops).map { _ in PipelineLeases() }
    measuresTracers = tracers.contains { $0.budgetNanoseconds != nil }
    deadlineNanoseconds = settings.deadline?.nanoseconds ?? .max
    attemptTimeoutNanoseconds = settings.attemptTimeout.nanoseconds
    traced = tracers.reduce(into: TraceInterests()) { $0.formUnion($1.interests) }
    changesRequests = !requestStages.isEmpty || !issueStages.isEmpty
    requestStagesWantBody = requestStages.contains { $0.capabilities.isSuperset(of: [.request, .wantsRequestBody]) }
    responseStagesWantBody = responseStages.contains { $0.capabilities.contains(.wantsResponseBody) }
    answersChallenges = delegate != nil || hopStages.contains { $0.capabilities.contains(.challenge) }
    changesRequestPieces = requestStages.contains { $0.capabilities.contains(.requestPieces) }
    changesResponsePieces = responseStages.contains { $0.capabilities.contains(.responsePieces) }
    pathStages = (requestStages + issueStages + responseStages).filter { $0.match?.paths.isEmpty == false }
    takesInformational = responseStages.contains { $0.capabilities.contains(.informational) }
    retriesStatuses = !settings.retry.statuses.isEmpty
    retriesFailures = settings.retry.concernsFailures
  }

  /// The limits with which every transaction begins, from the settings; `UInt64.max` if there is no deadline.
  let deadlineNanoseconds: UInt64
  let attemptTimeoutNanoseconds: UInt64
  /// The kinds of events that at least one tracer wants.
  let traced: TraceInterests
  /// Whether a tracer has a time budget, so that the clock must be read around its calls.
  let measuresTracers: Bool
  /// Whether a stage can change the first hop of an attempt.
  let changesRequests: Bool
  package let requestStagesWantBody: Bool
  package let responseStagesWantBody: Bool
  /// The stages whose match has a path.
  let pathStages: [StageBinding]
  let takesInformational: Bool
  package let changesRequestPieces: Bool
  package let changesResponsePieces: Bool
  let retriesStatuses: Bool
  let retriesFailures: Bool
  let answersChallenges: Bool

  private static func hopStages(_ bindings: [StageBinding]) -> [StageBinding] {
    var stages: [StageBinding] = []
    for binding in bindings where !binding.capabilities.isDisjoint(with: [.redirect, .challenge]) {
      if !stages.contains(where: { $0.interceptor.identity == binding.interceptor.identity }) { stages.append(binding) }
    }
    return stages
  }
}

/// The settings for every transaction of a pipeline.
package struct PipelineSettings: Sendable {
  /// The time limit for a whole transaction; nil if there is no limit.
  package var deadline: Duration?
  /// The time limit for one attempt on the wire.
  package var attemptTimeout: Duration
  /// The maximum number of attempts of one transaction, including the first; at least 1.
  package var maximumAttempts: Int
  /// Which requests the engine retries by itself.
  package var retry: RetryPolicy
  package var transfer: TransferOptions
  package var requestIDHeader: String
  /// The statuses that are a success.
  package var acceptedStatuses: StatusSet
  /// Further checks of a response; nil if only its status is checked.
  package var checks: ResponseChecks?
  package var redirects: RedirectSettings
  /// Converts non-ASCII hosts in the targets of redirects; without an encoder, a redirect to such a host is refused.
  package var hostEncoder: HostEncoder?
  /// The default handling of challenges; nil leaves the response as it is.
  package var challengeResponder: (any ChallengeResponder)?
  /// How journals show messages.
  package var journal: JournalSettings
  /// The names of the settings that limit a transaction, for errors.
  package var names: SettingNames

  /// The secrets that are hidden wherever a message is shown: in journals and in errors.
  var secrets: Redactor { journal.secrets }

  package init(
    deadline: Duration? = .seconds(60), attemptTimeout: Duration = .seconds(30), maximumAttempts: Int = 3,
    retry: RetryPolicy = RetryPolicy(), transfer: TransferOptions = TransferOptions(),
    requestIDHeader: String = "X-Request-ID", acceptedStatuses: StatusSet = .notAnError, checks: ResponseChecks? = nil,
    redirects: RedirectSettings = RedirectSettings(), hostEncoder: HostEncoder? = nil,
    challengeResponder: (any ChallengeResponder)? = nil,
    journal: JournalSettings = JournalSettings(), names: SettingNames = SettingNames()
  ) {
    self.deadline = deadline
    self.attemptTimeout = attemptTimeout
    self.maximumAttempts = max(1, maximumAttempts)
    self.retry = retry
    self.transfer = transfer
    self.requestIDHeader = requestIDHeader
    self.acceptedStatuses = acceptedStatuses
    self.checks = checks
    self.redirects = redirects
    self.hostEncoder = hostEncoder
    self.challengeResponder = challengeResponder
    self.journal = journal
    self.names = names
  }
}
