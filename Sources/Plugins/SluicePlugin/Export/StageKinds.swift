/// The functions that a stage has.
struct StageKinds: OptionSet, Sendable {
  let rawValue: UInt32

  static let request = StageKinds(rawValue: 1 << 0)
  static let response = StageKinds(rawValue: 1 << 1)
  static let issue = StageKinds(rawValue: 1 << 2)
  static let failure = StageKinds(rawValue: 1 << 3)
  static let redirect = StageKinds(rawValue: 1 << 4)
  static let challenge = StageKinds(rawValue: 1 << 5)
  static let informational = StageKinds(rawValue: 1 << 6)
  static let body = StageKinds(rawValue: 1 << 7)
  static let tracer = StageKinds(rawValue: 1 << 8)
  static let notifications = StageKinds(rawValue: 1 << 9)
  static let scheduledWork = StageKinds(rawValue: 1 << 10)

  /// The kinds that the protocols of a type imply.
  init(of type: Any.Type) {
    self = []
    if type is any RequestInterceptor.Type || type is any SynchronousRequestInterceptor.Type { insert(.request) }
    if type is any ResponseInterceptor.Type || type is any SynchronousResponseInterceptor.Type { insert(.response) }
    if type is any IssueInterceptor.Type { insert(.issue) }
    if type is any FailureInterceptor.Type { insert(.failure) }
    if type is any RedirectInterceptor.Type { insert(.redirect) }
    if type is any ChallengeInterceptor.Type { insert(.challenge) }
    if type is any InformationalInterceptor.Type { insert(.informational) }
    if type is any BodyInterceptor.Type { insert(.body) }
    if type is any TransactionTracer.Type { insert(.tracer) }
    if type is any NotificationHandler.Type { insert(.notifications) }
    if type is any ScheduledWork.Type { insert(.scheduledWork) }
  }

  init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// Refuses a type that cannot work as a stage.
func checkStage(_ type: Any.Type, _ options: PluginOptions) throws(StageFailure) {
  if type is any RequestInterceptor.Type && type is any SynchronousRequestInterceptor.Type
    || type is any ResponseInterceptor.Type && type is any SynchronousResponseInterceptor.Type
  {
    throw StageFailure(message: "\(type) is both an asynchronous and a synchronous interceptor; choose one")
  }
  let isAsynchronous =
    type is any RequestInterceptor.Type || type is any ResponseInterceptor.Type || type is any FailureInterceptor.Type
  if options.contains(.blocking) && isAsynchronous {
    throw StageFailure(message: "\(type) is blocking, but has async methods; use the synchronous protocols")
  }
  if StageKinds(of: type).isEmpty {
    throw StageFailure(
      message: "\(type) is neither an interceptor nor a tracer, and handles no notifications or scheduled work; "
        + "conform it to one")
  }
}
