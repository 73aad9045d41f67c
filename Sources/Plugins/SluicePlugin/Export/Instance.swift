import CSluice

/// The object behind the host's `instance` pointer.
final class Instance: Sendable {
  /// nil for a stage that has no lifecycle of its own.
  let plugin: (any Plugin)?
  let parts: StageParts
  /// Which methods of ``parts`` are synchronous; stored, because reading ``parts`` copies them.
  let isSynchronous: (request: Bool, response: Bool)
  let host: PluginHost
  let calls: CallTasks
  let tasks: WorkTasks

  init(_ plugin: (any Plugin)?, _ parts: StageParts, host: PluginHost) {
    self.plugin = plugin
    self.parts = parts
    isSynchronous = (parts.synchronousRequest != nil, parts.synchronousResponse != nil)
    self.host = host
    calls = CallTasks(host.link)
    tasks = WorkTasks(host.link)
  }

  deinit { calls.close() }

  /// The instance behind a pointer from the host. The host keeps the instance alive during the call.
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

  /// Runs a method that can wait.
  func run(
    _ exchange: OpaquePointer, _ method: (SuspendableCall, RequestContext) -> CallTask.Method
  ) -> sluice_verdict {
    let facts = context(of: exchange)
    let task = calls.take()
    let call = task.makeCall(on: facts.loop)
    return task.run(call, on: exchange, method(call, RequestContext(task.keep(facts), call)))
  }

  func context(of exchange: OpaquePointer) -> sluice_context {
    host.link.context(of: exchange)
  }
}
