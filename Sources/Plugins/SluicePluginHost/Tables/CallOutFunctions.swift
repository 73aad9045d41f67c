import CSluice
import SluiceIDNA
import SluiceJSON
import SluiceMessages
import SluicePipeline

/// The table `sluice.callout/1`.
enum CallOutFunctions {
  /// The table is never freed, and never written after this, so all threads can share it.
  nonisolated(unsafe) static let shared: UnsafePointer<sluice_callout> = {
    let table = UnsafeMutablePointer<sluice_callout>.allocate(capacity: 1)
    table.initialize(
      to: sluice_callout(
        size: UInt32(MemoryLayout<sluice_callout>.size), reserved: 0,
        start: { CallOutFunctions.start($0, $1, $2, $3, $4, $5) }, cancel: { CallOutFunctions.cancel($0, $1) }))
    return UnsafePointer(table)
  }()

  private static func start(
    _ host: UnsafePointer<sluice_host>?, _ request: UnsafeMutablePointer<json_t>?,
    _ options: UnsafePointer<sluice_call_options>?, _ completion: CallOut.Completion?,
    _ context: UnsafeMutableRawPointer?, _ id: UnsafeMutablePointer<sluice_call>?
  ) -> sluice_status {
    guard let handle = HostHandle.of(host), let runtime = handle.runtime else { return Status.closing }
    guard !runtime.isTrial || runtime.answersCallOuts else { return Status.refused }
    guard let instance = handle.instance else { return handle.wasBound ? Status.closing : refuseInCreate(handle) }
    guard let request, let completion, let options = read(options) else {
      handle.report(.invalidArgument, "call-out without a request or a completion, or with options that are too short")
      return Status.invalid
    }
    guard let message = read(request, handle) else { return Status.invalid }
    let parent = SuspensionToken(options.parent)
    let order = CallOut.Order(
      request: message, parent: parent.isNone ? nil : parent,
      timeout: runtime.callOuts.timeout(asked: options.timeout_ns),
      maximumResponseBytes: runtime.callOuts.bytes(asked: options.maximum_response_bytes), completion: completion,
      context: UncheckedPointer(context))
    switch instance.startCallOut(order) {
    case .success(let call):
      id?.pointee = call
      return Status.ok
    case .failure(let refusal): return refusal.status
    }
  }

  private static func refuseInCreate(_ handle: HostHandle) -> sluice_status {
    handle.report(.earlyCallOut)
    return Status.refused
  }

  /// Copies the options that the plugin has passed. If their `size` is smaller than the host's, the members that they
  /// lack are zero. Returns nil if the size is smaller than that of the first version.
  private static func read(_ given: UnsafePointer<sluice_call_options>?) -> sluice_call_options? {
    var options = sluice_call_options()
    guard let given else { return options }
    guard given.pointee.size >= SLUICE_CALL_OPTIONS_SIZE_1 else { return nil }
    let size = Int(given.pointee.size)
    withUnsafeMutableBytes(of: &options) {
      $0.copyMemory(from: UnsafeRawBufferPointer(start: given, count: min(size, $0.count)))
    }
    return options
  }

  private static func read(_ document: UnsafeMutablePointer<json_t>, _ handle: HostHandle) -> Request? {
    do {
      return try RequestDocument.read(JSONValue(retaining: document), rules: [.namesInAnyCase, .files], hosts: .idna)
    } catch {
      handle.report(.invalidDocument, "call-out: \(error)")
      return nil
    }
  }

  private static func cancel(_ host: UnsafePointer<sluice_host>?, _ call: sluice_call) -> sluice_status {
    guard let instance = HostHandle.of(host)?.instance else { return Status.stale }
    return instance.callOuts.cancel(call) ? Status.ok : Status.stale
  }
}
