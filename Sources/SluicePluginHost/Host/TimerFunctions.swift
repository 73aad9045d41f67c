import CSluice
import SluicePipeline

/// The table `sluice.timers/1`. Schedules are not offered yet: nothing would deliver them.
enum TimerFunctions {
  /// Never freed and never written after this: shared by all threads as a constant.
  nonisolated(unsafe) static let shared: UnsafePointer<sluice_timers> = {
    let table = UnsafeMutablePointer<sluice_timers>.allocate(capacity: 1)
    table.initialize(
      to: sluice_timers(
        size: UInt32(MemoryLayout<sluice_timers>.size), reserved: 0,
        start: { TimerFunctions.start($0, $1, $2, $3, $4) }, schedule: { _, _, _, _, _ in Status.unsupported },
        cancel: { TimerFunctions.cancel($0, $1) }))
    return UnsafePointer(table)
  }()

  private static func start(
    _ host: UnsafePointer<sluice_host>?, _ delay: UInt64,
    _ function: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?, _ context: UnsafeMutableRawPointer?,
    _ timer: UnsafeMutablePointer<sluice_timer>?
  ) -> sluice_status {
    guard let seat = HostSeat.of(host), let instance = seat.instance else { return Status.closing }
    guard let function else {
      seat.report(.invalidArgument, "timer without a function")
      return Status.invalid
    }
    let delay = Duration.nanoseconds(Int64(clamping: delay))
    switch instance.startTimer(after: delay, function, UncheckedPointer(context)) {
    case .success(let id):
      timer?.pointee = id
      return Status.ok
    case .failure(let refusal): return refusal.status
    }
  }

  private static func cancel(_ host: UnsafePointer<sluice_host>?, _ timer: sluice_timer) -> sluice_status {
    guard let instance = HostSeat.of(host)?.instance else { return Status.stale }
    return instance.cancelTimer(timer) ? Status.ok : Status.stale
  }
}
