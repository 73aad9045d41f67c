import CSluice
import SluiceJSON
import SluiceSupport
import SluiceTestKit

/// The table `sluice.callout/1` of a stub host. It records started and cancelled call-outs, and the test completes
/// them.
///
/// `@unchecked Sendable`: a plugin's context is only stored and passed back.
final class StubCallOuts: @unchecked Sendable {
  typealias Completion = @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<sluice_call_result>?) -> Void

  struct Start: @unchecked Sendable {
    var request: JSONValue
    var options: sluice_call_options
    var completion: Completion
    var context: UnsafeMutableRawPointer?

    /// Completes the call-out with a response.
    func answer(_ response: JSONValue) {
      response.withUnsafeJSON { json in
        var result = sluice_call_result()
        result.size = UInt32(MemoryLayout<sluice_call_result>.size)
        result.has_response = 1
        result.response = json
        completion(context, &result)
      }
    }

    func fail(_ code: String) {
      var code = code
      code.withUTF8 { bytes in
        var result = sluice_call_result()
        result.size = UInt32(MemoryLayout<sluice_call_result>.size)
        result.error_code = sluice_text(
          data: UnsafeRawPointer(bytes.baseAddress)?.assumingMemoryBound(to: CChar.self), size: bytes.count)
        completion(context, &result)
      }
    }
  }

  private static let all = Locked<[UInt: StubCallOuts]>([:])
  /// The table of every stub host that offers call-outs. It is never freed.
  nonisolated(unsafe) private static let table: UnsafePointer<sluice_callout> = {
    let table = UnsafeMutablePointer<sluice_callout>.allocate(capacity: 1)
    table.initialize(
      to: sluice_callout(
        size: UInt32(MemoryLayout<sluice_callout>.size), reserved: 0,
        start: { StubCallOuts.of($0)?.start($1, $2, $3, $4, $5) ?? -2 },
        cancel: { StubCallOuts.of($0)?.cancel($1) ?? -2 }))
    return UnsafePointer(table)
  }()

  let started = Watched<[Start]>([])
  let cancelled = Watched<[sluice_call]>([])
  /// What `start` returns. Before `start` returns, it calls `atOnce`.
  private let status: sluice_status
  private let atOnce: @Sendable (Start) -> Void

  /// Adds the table to the host.
  init(_ host: StubHost, status: Int = Int(SLUICE_STATUS_OK), atOnce: @escaping @Sendable (Start) -> Void = { _ in }) {
    self.status = sluice_status(status)
    self.atOnce = atOnce
    Self.all.withLock { $0[UInt(bitPattern: host.table)] = self }
    host.table.pointee.extension = { _, _ in UnsafeRawPointer(StubCallOuts.table) }
  }

  private static func of(_ host: UnsafePointer<sluice_host>?) -> StubCallOuts? {
    all.withLock { $0[UInt(bitPattern: host)] }
  }

  private func start(
    _ request: UnsafeMutablePointer<json_t>?, _ options: UnsafePointer<sluice_call_options>?,
    _ completion: Completion?, _ context: UnsafeMutableRawPointer?, _ call: UnsafeMutablePointer<sluice_call>?
  ) -> sluice_status {
    guard let request, let options, let completion else { return sluice_status(SLUICE_STATUS_INVALID) }
    guard status == 0 else { return status }
    let start = Start(
      request: JSONValue(retaining: request), options: options.pointee, completion: completion, context: context)
    atOnce(start)
    let count = started.update { started in
      started.append(start)
      return started.count
    }
    call?.pointee = sluice_call(count)
    return status
  }

  private func cancel(_ call: sluice_call) -> sluice_status {
    cancelled.update { $0.append(call) }
    return 0
  }
}
