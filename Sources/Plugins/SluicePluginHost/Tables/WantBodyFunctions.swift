import CSluice
import SluicePipeline

/// The table `sluice.want-body/1`.
enum WantBodyFunctions {
  /// The table is never freed, and never written after this, so all threads can share it.
  nonisolated(unsafe) static let shared: UnsafePointer<sluice_want_body> = {
    let table = UnsafeMutablePointer<sluice_want_body>.allocate(capacity: 1)
    table.initialize(
      to: sluice_want_body(
        size: UInt32(MemoryLayout<sluice_want_body>.size), reserved: 0,
        want_body: { WantBodyFunctions.wantBody($0, $1) }))
    return UnsafePointer(table)
  }()

  private static func wantBody(_ handle: OpaquePointer?, _ side: sluice_side) -> sluice_status {
    guard let called = CallContext.find(handle) else { return CallContext.misuse }
    guard side < 2 else { return called.refuse(.invalidArgument, "want_body: side \(side)") }
    guard called.offers(.body(of: side)) else { return called.lacks(.body(of: side), "want_body") }
    guard called.phase == .request else { return called.refuse(.refusedWrite, "want_body") }
    if side == 1 {
      called.exchange.wantResponseBody(called.call.pointee.instance)
    } else {
      called.record.wantRequestBody()
      called.call.pointee.hasDetails = true
    }
    return Status.ok
  }
}
