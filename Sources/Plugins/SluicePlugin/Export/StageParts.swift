/// The parts of a stage by protocol; nil for a protocol to which the stage does not conform.
package struct StageParts: Sendable {
  package var request: (any RequestInterceptor)?
  var synchronousRequest: (any SynchronousRequestInterceptor)?
  package var response: (any ResponseInterceptor)?
  var synchronousResponse: (any SynchronousResponseInterceptor)?
  package var issue: (any IssueInterceptor)?
  package var failure: (any FailureInterceptor)?
  package var redirect: (any RedirectInterceptor)?
  package var challenge: (any ChallengeInterceptor)?
  package var tracer: (any TransactionTracer)?
  var body: (any BodyInterceptor)?
  var informational: (any InformationalInterceptor)?
  var notifications: (any NotificationHandler)?
  var scheduled: (any ScheduledWork)?

  package init() {}

  /// The protocols that a value conforms to.
  init(of stage: any Sendable) {
    request = stage as? any RequestInterceptor
    synchronousRequest = stage as? any SynchronousRequestInterceptor
    response = stage as? any ResponseInterceptor
    synchronousResponse = stage as? any SynchronousResponseInterceptor
    issue = stage as? any IssueInterceptor
    failure = stage as? any FailureInterceptor
    redirect = stage as? any RedirectInterceptor
    challenge = stage as? any ChallengeInterceptor
    body = stage as? any BodyInterceptor
    informational = stage as? any InformationalInterceptor
    tracer = stage as? any TransactionTracer
    notifications = stage as? any NotificationHandler
    scheduled = stage as? any ScheduledWork
  }

  var kinds: StageKinds {
    var kinds: StageKinds = []
    if request != nil || synchronousRequest != nil { kinds.insert(.request) }
    if response != nil || synchronousResponse != nil { kinds.insert(.response) }
    if issue != nil { kinds.insert(.issue) }
    if failure != nil { kinds.insert(.failure) }
    if redirect != nil { kinds.insert(.redirect) }
    if challenge != nil { kinds.insert(.challenge) }
    if informational != nil { kinds.insert(.informational) }
    if body != nil { kinds.insert(.body) }
    if tracer != nil { kinds.insert(.tracer) }
    if notifications != nil { kinds.insert(.notifications) }
    if scheduled != nil { kinds.insert(.scheduledWork) }
    return kinds
  }
}
