import CSluice
import SluiceMessages
import SluicePipeline

/// The table `sluice.timers/1`.
enum TimerFunctions {
  /// The table is never freed, and never written after this, so all threads can share it.
  nonisolated(unsafe) static let shared: UnsafePointer<sluice_timers> = {
    let table = UnsafeMutablePointer<sluice_timers>.allocate(capacity: 1)
    table.initialize(
      to: sluice_timers(
        size: UInt32(MemoryLayout<sluice_timers>.size), reserved: 0,
        start: { TimerFunctions.start($0, $1, $2, $3, $4) }, schedule: { TimerFunctions.schedule($0, $1, $2, $3, $4) },
        cancel: { TimerFunctions.cancel($0, $1) }))
    return UnsafePointer(table)
  }()

  private static func start(
    _ host: UnsafePointer<sluice_host>?, _ delay: UInt64,
    _ function: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?, _ context: UnsafeMutableRawPointer?,
    _ timer: UnsafeMutablePointer<sluice_timer>?
  ) -> sluice_status {
    guard let handle = HostHandle.of(host), let instance = handle.instance else { return Status.closing }
    guard let function else {
      handle.report(.invalidArgument, "timer without a function")
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

  private static func schedule(
    _ host: UnsafePointer<sluice_host>?, _ name: sluice_text, _ period: UInt64, _ timeout: UInt64,
    _ timer: UnsafeMutablePointer<sluice_timer>?
  ) -> sluice_status {
    guard let handle = HostHandle.of(host), let instance = handle.instance else { return Status.closing }
    guard handle.features.contains(.notifications) else { return handle.lacks(.notifications, "schedule") }
    let period = Duration.nanoseconds(Int64(clamping: period))
    if let mistake = mistake(instance, name, period, timeout) {
      handle.report(.invalidArgument, mistake)
      return Status.invalid
    }
    let timeout = Duration.nanoseconds(Int64(clamping: timeout))
    switch instance.startSchedule(name.string ?? "", every: period, deadline: timeout) {
    case .success(let id):
      timer?.pointee = id
      return Status.ok
    case .failure(let refusal): return refusal.status
    }
  }

  private static let maximumNameBytes = 256

  private static func mistake(
    _ instance: PluginInstance, _ name: sluice_text, _ period: Duration, _ timeout: UInt64
  ) -> String? {
    guard instance.notificationCalls.on_schedule != nil else { return "schedule by a plugin without on_schedule" }
    guard let bytes = name.bytes, !bytes.isEmpty, bytes.count <= maximumNameBytes else {
      return "the name of scheduled work has 1 to \(maximumNameBytes) bytes"
    }
    guard let text = String(validating: bytes, as: UTF8.self), !text.unicodeScalars.contains(where: PlainText.acts)
    else {
      return "the name of scheduled work is UTF-8 without control characters"
    }
    guard period >= PluginSchedule.shortestPeriod else { return "schedule with a period below one millisecond" }
    return timeout > 0 ? nil : "schedule with a timeout of 0"
  }

  private static func cancel(_ host: UnsafePointer<sluice_host>?, _ timer: sluice_timer) -> sluice_status {
    guard let instance = HostHandle.of(host)?.instance else { return Status.stale }
    return instance.cancelTimer(timer) ? Status.ok : Status.stale
  }
}
