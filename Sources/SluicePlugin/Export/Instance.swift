import CSluice

/// The object behind the host's `instance` pointer.
final class Instance: Sendable {
  /// nil for a stage that has no lifecycle of its own.
  let plugin: (any Plugin)?
  let parts: StageParts
  let host: PluginHost
  let suspended = SuspendedCalls()
  let tasks: WorkTasks

  init(_ plugin: (any Plugin)?, _ parts: StageParts, host: PluginHost) {
    self.plugin = plugin
    self.parts = parts
    self.host = host
    tasks = WorkTasks(host.link)
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
    host.link.context(of: exchange)
  }
}
