import CSluice
import SluiceSupport
import SluiceTestKit

/// The table `sluice.timers/1` of a stub host, whose timers fire when the test says so.
///
/// `@unchecked Sendable`: a plugin's context is only stored and passed back.
final class StubTimers: @unchecked Sendable {
  struct Start: @unchecked Sendable {
    var delay: UInt64
    var function: @convention(c) (UnsafeMutableRawPointer?) -> Void
    var context: UnsafeMutableRawPointer?

    func fire() { function(context) }
  }

  private static let all = Locked<[UInt: StubTimers]>([:])
  /// The table of every stub host that offers timers. It is never freed.
  nonisolated(unsafe) private static let table: UnsafePointer<sluice_timers> = {
    let table = UnsafeMutablePointer<sluice_timers>.allocate(capacity: 1)
    table.initialize(
      to: sluice_timers(
        size: UInt32(MemoryLayout<sluice_timers>.size), reserved: 0,
        start: { StubTimers.of($0)?.start($1, $2, $3, $4) ?? -2 }, schedule: { _, _, _, _, _ in -2 },
        cancel: { StubTimers.of($0)?.cancel($1) ?? -2 }))
    return UnsafePointer(table)
  }()

  let started = Watched<[Start]>([])
  let cancelled = Watched<[sluice_timer]>([])
  /// What `start` and `cancel` return.
  private let status: sluice_status
  private let cancelStatus: sluice_status

  /// Adds the table to the host.
  init(_ host: StubHost, status: Int = Int(SLUICE_STATUS_OK), cancelStatus: Int = Int(SLUICE_STATUS_OK)) {
    self.status = sluice_status(status)
    self.cancelStatus = sluice_status(cancelStatus)
    Self.all.withLock { $0[UInt(bitPattern: host.table)] = self }
    host.table.pointee.extension = { _, _ in UnsafeRawPointer(StubTimers.table) }
  }

  private static func of(_ host: UnsafePointer<sluice_host>?) -> StubTimers? {
    all.withLock { $0[UInt(bitPattern: host)] }
  }

  private func start(
    _ delay: UInt64, _ function: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?,
    _ context: UnsafeMutableRawPointer?, _ timer: UnsafeMutablePointer<sluice_timer>?
  ) -> sluice_status {
    guard let function else { return sluice_status(SLUICE_STATUS_INVALID) }
    guard status == 0 else { return status }
    let start = Start(delay: delay, function: function, context: context)
    let count = started.update { started in
      started.append(start)
      return started.count
    }
    timer?.pointee = sluice_timer(count)
    return status
  }

  private func cancel(_ timer: sluice_timer) -> sluice_status {
    cancelled.update { $0.append(timer) }
    return cancelStatus
  }
}
