import Dispatch
public import SluicePlugin
import Synchronization

/// Performs the action that the topic of a notification, or the name of scheduled work, names.
struct SwiftWork: Plugin, NotificationHandler, ScheduledWork {
  struct Configuration: Decodable, Sendable {
    var schedules: [Work]

    struct Work: Decodable, Sendable {
      var name: String
      var periodMs: Int
      var deadlineMs: Int
    }
  }

  struct Mishap: Error, CustomStringConvertible {
    let description = "the moon is down"
  }

  static let information = PluginInformation(id: "swift-work", version: "1.0.0", summary: "A fixture.")
  static let configurationDefaults: JSONValue? = ["schedules": []]

  private let configuration: Configuration
  private let host: PluginHost
  private let calls = Calls()
  private let handled: Counter
  private let lastNumber: Gauge
  private let time: Histogram

  private final class Calls: Sendable {
    let count = Atomic<Int>(0)
    /// The number of calls that hang, and a signal for each call that was cancelled.
    let hanging = Atomic<Int>(0)
    let cancelled = DispatchSemaphore(value: 0)
  }

  init(configuration: Configuration, host: PluginHost) throws {
    self.configuration = configuration
    self.host = host
    handled = try host.counter("handled", "Notifications.", unit: "{notification}", labels: ["topic"], seriesLimit: 20)
    lastNumber = try host.gauge("last.number")
    time = try host.histogram("time", "Of a call.")
  }

  func activate() throws {
    for work in configuration.schedules {
      try host.schedule(
        work.name, every: .milliseconds(work.periodMs), timeout: .milliseconds(work.deadlineMs))
    }
  }

  func deactivate(timeout: Duration) {
    let count = calls.hanging.load(ordering: .relaxed)
    let end = DispatchTime.now() + .nanoseconds(Int(timeout / .nanoseconds(1)))
    for _ in 0..<count where calls.cancelled.wait(timeout: end) == .timedOut { return }
    host.log(.warning, "\(count) were cancelled")
  }

  func takes(_ notification: PluginNotification) -> Bool { notification.topic.hasPrefix("swift-") }

  func handle(_ notification: PluginNotification) async throws -> WorkOutcome {
    let number = notification.payload["number"]?.integer ?? 0
    let start = ContinuousClock.now
    defer { time.record(start.duration(to: .now)) }
    handled.add(1, notification.topic)
    lastNumber.set(Double(number))
    host.log(.warning, "handles \(notification.topic) \(number)")
    return try await work(String(notification.topic.dropFirst("swift-".count)))
  }

  func perform(_ name: String) async throws -> WorkOutcome {
    let number = calls.count.add(1, ordering: .relaxed).newValue
    host.log(.warning, "performs \(name) \(number)")
    return try await work(name)
  }

  private func work(_ name: String) async throws -> WorkOutcome {
    switch name {
    case "take": return .newData
    case "nothing": return .noData
    case "later":
      await Task.yield()
      await Task.detached {}.value
      return .newData
    case "throw": throw Mishap()
    case "hang":
      _ = calls.hanging.add(1, ordering: .relaxed)
      host.log(.warning, "hangs")
      defer { calls.cancelled.signal() }
      try await host.sleep(for: .seconds(3600))
      return .newData
    default: return .failed
    }
  }
}

@section(".sluice.requires.timers") @used let requiresTimers = true
@section(".sluice.requires.metrics") @used let requiresMetrics = true
@section(".sluice.requires.notifications") @used let requiresNotifications = true

/// The entry point. The host looks it up by its name.
@c(sluice_plugin_entry) public func entry(_ host: EntryHost, _ abi: UInt32, _ error: EntryError) -> EntryTable {
  export(SwiftWork.self, host, abi, error)
}
