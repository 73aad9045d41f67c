import CSluice
import SluicePipeline

// The functions with which a plugin resumes a call, posts a function to a loop, and enters an exchange.
extension HostTable {
  static func resume(
    _ host: UnsafePointer<sluice_host>?, _ token: sluice_token, _ verdict: sluice_verdict
  ) -> sluice_status {
    guard let handle = HostHandle.of(host) else { return Status.stale }
    guard handle.features.contains(.suspend) else { return handle.lacks(.suspend, "resume") }
    guard let instance = handle.instance else {
      // The generation has ended, so none of its tokens is valid.
      handle.report(.staleToken)
      return Status.stale
    }
    guard VerdictNumber.isDecision(verdict) else {
      handle.report(.invalidArgument, "resume with the verdict \(verdict)")
      return Status.invalid
    }
    if verdict == VerdictNumber.retry, !handle.features.contains(.retry) {
      return handle.lacks(.retry, "resume with SLUICE_VERDICT_RETRY")
    }
    let token = SuspensionToken(token)
    guard let environment = instance.environment(of: token) else {
      handle.report(.staleToken)
      return Status.stale
    }
    switch environment.suspensions.resume(token, resolving: { instance.resolve(verdict, on: $0) }) {
    case .accepted:
      CallContext.leave(token)
      return Status.ok
    case .already:
      handle.report(.secondResume)
      return Status.already
    case .stale:
      handle.report(.staleToken)
      return Status.stale
    }
  }

  static func post(
    _ host: UnsafePointer<sluice_host>?, _ loop: sluice_loop, _ function: PluginInstance.Function?,
    _ context: UnsafeMutableRawPointer?
  ) -> sluice_status {
    guard let handle = HostHandle.of(host) else { return Status.closing }
    guard handle.features.contains(.suspend) else { return handle.lacks(.suspend, "post") }
    guard let instance = handle.instance else { return Status.closing }
    guard let function, let environment = instance.environment(at: Int(loop)) else {
      handle.report(.invalidArgument, function == nil ? "post without a function" : "post to loop \(loop)")
      return Status.invalid
    }
    return instance.post(function, UncheckedPointer(context), to: environment.loop) ? Status.ok : Status.closing
  }

  static func enter(_ host: UnsafePointer<sluice_host>?, _ token: sluice_token) -> OpaquePointer? {
    guard let handle = HostHandle.of(host), handle.features.contains(.suspend), let instance = handle.instance else {
      return nil
    }
    let token = SuspensionToken(token)
    guard CallContext.isPosted(by: instance) else {
      handle.report(.wrongEnter)
      return nil
    }
    if let name = CallContext.entered(token) { return OpaquePointer(bitPattern: name) }
    guard let environment = instance.environment(of: token), environment.loop.isCurrent,
      let exchange = environment.suspensions.exchange(for: token)
    else { return nil }
    guard let suspended = instance.existingRecord(exchange)?.suspension(of: token) else {
      handle.report(.wrongEnter)
      return nil
    }
    return OpaquePointer(bitPattern: CallContext.enter(exchange, token, suspended, instance))
  }
}
