import CSluice

/// The object behind the host's `instance` pointer: the plugin, with the protocols that it conforms to.
final class Instance: Sendable {
  let plugin: any Plugin
  let host: PluginHost
  let suspended = SuspendedCalls()
  let tasks: WorkTasks
  let request: (any RequestInterceptor)?
  let synchronousRequest: (any SynchronousRequestInterceptor)?
  let response: (any ResponseInterceptor)?
  let synchronousResponse: (any SynchronousResponseInterceptor)?
  let issue: (any IssueInterceptor)?
  let failure: (any FailureInterceptor)?
  let redirect: (any RedirectInterceptor)?
  let challenge: (any ChallengeInterceptor)?
  let body: (any BodyInterceptor)?
  let informational: (any InformationalInterceptor)?
  let tracer: (any TransactionTracer)?
  let notifications: (any NotificationHandler)?
  let scheduled: (any ScheduledWork)?

  init(_ plugin: any Plugin, host: PluginHost) {
    self.plugin = plugin
    self.host = host
    tasks = WorkTasks(host.link)
    request = plugin as? any RequestInterceptor
    synchronousRequest = plugin as? any SynchronousRequestInterceptor
    response = plugin as? any ResponseInterceptor
    synchronousResponse = plugin as? any SynchronousResponseInterceptor
    issue = plugin as? any IssueInterceptor
    failure = plugin as? any FailureInterceptor
    redirect = plugin as? any RedirectInterceptor
    challenge = plugin as? any ChallengeInterceptor
    body = plugin as? any BodyInterceptor
    informational = plugin as? any InformationalInterceptor
    tracer = plugin as? any TransactionTracer
    notifications = plugin as? any NotificationHandler
    scheduled = plugin as? any ScheduledWork
  }

  /// The instance that a pointer from the host names, which the host keeps alive during the call.
  static func from(_ pointer: UnsafeMutableRawPointer?) -> Instance? {
    pointer.map { Unmanaged<Instance>.fromOpaque($0).takeUnretainedValue() }
  }
}

extension Instance {
  /// Runs a method that cannot wait.
  func runNow(_ exchange: OpaquePointer, _ method: (ExchangeCall) throws -> Void) -> sluice_verdict {
    let call = ExchangeCall(link: host.link)
    call.enter(exchange)
    defer { call.leave() }
    return call.verdict(CallOutcome(of: { try method(call) }))
  }

  /// Runs a method that may wait.
  func run(
    _ exchange: OpaquePointer, _ method: @escaping @Sendable (SuspendableCall, RequestContext) async throws -> Void
  ) -> sluice_verdict {
    let facts = context(of: exchange)
    let call = SuspendableCall(link: host.link, suspended: suspended, loop: facts.loop)
    let context = RequestContext(facts, call)
    return call.run(on: exchange) { try await method(call, context) }
  }

  func context(of exchange: OpaquePointer) -> sluice_context {
    var context = sluice_context()
    context.size = UInt32(MemoryLayout<sluice_context>.size)
    _ = host.link.current.pointee.exchange.pointee.context(exchange, &context)
    return context
  }
}
