import CSluice
import SluiceMessages
package import SluicePipeline
import SluiceSupport

// Scheduled work. A plugin starts it with `schedule` of `sluice.timers/1`, and does it in `on_schedule` of
// `sluice.notifications/1`.
extension PluginInstance {
  /// The results of scheduled work so far, by the name of the work.
  package var schedules: [ScheduleReport] { scheduleReports.withLock { $0.values.sorted { $0.name < $1.name } } }

  /// Calls `on_schedule` in every period.
  func startSchedule(
    _ name: String, every period: Duration, deadline: Duration
  ) -> Result<UInt64, TimerSet.Refusal> {
    guard !runtime.gate.isClosed, let loop = runtime.timerLoop else { return .failure(.closed) }
    guard remember(name, period, deadline) else { return .failure(.tooMany) }
    let added = timers.add { id in
      PluginSchedule(id: id, name: name, period: period, deadline: deadline, loop: loop, instance: self)
    }
    if case .success(let schedule) = added { schedule.start() }
    return added.map(\.id)
  }

  /// Returns false if the instance has too many names of scheduled work.
  private func remember(_ name: String, _ period: Duration, _ deadline: Duration) -> Bool {
    scheduleReports.withLock { reports in
      guard reports[name] == nil else {
        reports[name]?.restart(period: period, deadline: deadline)
        return true
      }
      guard reports.count < Self.maximumScheduleNames else { return false }
      reports[name] = ScheduleReport(
        stage: self.name, plugin: generation.id, generation: generation.number, name: name, period: period,
        deadline: deadline)
      return true
    }
  }

  private static let maximumScheduleNames = 1000

  /// Runs on a control thread.
  func callSchedule(_ name: String, _ token: CompletionToken) {
    guard let function = notificationCalls.on_schedule else { return }
    name.withText { name in subject.call(.onSchedule) { function(handle, name, sluice_completion(token)) } }
  }

  func scheduleEnded(_ name: String, _ outcome: WorkOutcome, after duration: Duration) {
    scheduleReports.withLock { $0[name]?.count(outcome, after: duration) }
    let level: PluginLogEntry.Level =
      switch outcome {
      case .newData: .info
      case .noData: .debug
      case .failed, .missedDeadline: .warning
      }
    hostHandle.log(level, "ended the scheduled work \"\(name)\" with \(outcome.rawValue) after \(duration)")
  }

  /// Logs the first, the tenth, the hundredth skipped period and so on.
  func leftOut(_ periods: Int, of name: String) {
    let count = scheduleReports.withLock { $0[name]?.countLeftOut(periods) ?? 0 }
    var rest = count
    while rest > 0, rest % 10 == 0 { rest /= 10 }
    guard rest == 1 else { return }
    let many = count > 1 ? "; \(count) periods so far" : ""
    hostHandle.log(.warning, "had not ended the scheduled work \"\(name)\" when it was due again; skipped\(many)")
  }
}
