import Glibc
import Sluice
import SluiceJSON
import SluicePipeline
import SluiceTestKit
import Testing

/// Notifications to plugins in C, compiled only against `include/`, in a real engine.
@Suite struct NotificationTests {
  /// An engine with instances of the fixture `handles-work`, one for each name and configuration.
  private struct Setup {
    let product: PluginCompiler.Product
    let engine: Engine
    let log = Watched<[LogLine]>([])

    init(_ plugins: [(name: String, config: String)]) async throws {
      product = try await PluginCompiler.compile("handles-work")
      chmod(product.path, 0o755)
      let path = product.path
      let list = plugins.map { #""\#($0.name)": {"library": "\#(path)", "config": \#($0.config)}"# }
      let text = #"{"plugins": {\#(list.joined(separator: ", "))}, "transport": {"loops": 2}}"#
      let log = self.log
      engine = try Engine(Configuration(text: Array(text.utf8))) { line in log.update { $0.append(line) } }
    }

    /// Whether the instance `name` took the notification. Other tests in this process load further generations, so any
    /// generation is accepted.
    func isTaken(_ result: NotificationResult, by name: String) -> Bool {
      guard case .plugin(name, "handles-work", let generation) = result.taker else { return false }
      return generation >= 1
    }

    /// The values that the instance `stage` logged under `name`.
    func told(_ stage: String, _ name: String) -> [String] {
      log.value.filter { $0.stage == stage && $0.message.hasPrefix("\(name)=") }
        .map { String($0.message.dropFirst(name.utf8.count + 1)) }
    }
  }

  @Test func `plugins are asked in the order of the configuration until one takes the notification`() async throws {
    let setup = try await Setup([
      ("first", #"{"takes": "a"}"#), ("second", #"{"takes": "take"}"#), ("third", "{}"),
    ])
    let result = await setup.engine.notify(topic: "take", payload: ["number": 7])
    #expect(result.outcome == .ended(.newData))
    #expect(setup.isTaken(result, by: "second"))
    #expect(result.duration > .zero)
    #expect(setup.told("first", "notified-pass") == ["0"])
    #expect(setup.told("second", "notified-take") == ["0"])
    #expect(setup.told("third", "notified-take").isEmpty)
    await setup.engine.shutdown()
  }

  @Test func `each plugin gets the original payload, even if an earlier one changed its copy`() async throws {
    let setup = try await Setup([("first", "{}"), ("second", "{}")])
    let payload: JSONValue = ["number": 7]
    let result = await setup.engine.notify(topic: "pass", payload: payload)
    #expect(result.outcome == .notTaken && result.taker == nil)
    #expect(setup.told("first", "payload") == ["7"] && setup.told("second", "payload") == ["7"])
    #expect(payload == ["number": 7])
    await setup.engine.shutdown()
  }

  @Test func `a notification that no plugin takes goes to the program's handler exactly once`() async throws {
    let setup = try await Setup([("first", "{}"), ("second", "{}")])
    let seen = Watched<[String]>([])
    setup.engine.setNotificationHandler { topic, payload in
      seen.update { $0.append("\(topic) \(payload["number"]?.integer ?? 0)") }
      return topic == "pass" ? .newData : nil
    }
    let taken = await setup.engine.notify(topic: "pass", payload: ["number": 7])
    #expect(taken.outcome == .ended(.newData) && taken.taker == .program)
    #expect(seen.value == ["pass 7"])
    let refused = await setup.engine.notify(topic: "fault", payload: ["number": 8])
    #expect(refused.outcome == .notTaken && refused.taker == nil)
    #expect(seen.value == ["pass 7", "fault 8"])
    _ = await setup.engine.notify(topic: "take")
    #expect(seen.value.count == 2)
    await setup.engine.shutdown()
  }

  @Test func `if no plugin takes a notification and there is no handler, it is logged and reported as not taken`()
    async throws
  {
    let setup = try await Setup([])
    let result = await setup.engine.notify(topic: "x-unknown")
    #expect(result.outcome == .notTaken && "\(result.outcome)" == "not-taken")
    let message = "no receiver took the notification \"x-unknown\""
    #expect(setup.log.value.contains { $0.plugin == nil && $0.message == message })
    await setup.engine.shutdown()
  }

  @Test func `a plugin that never completes misses the deadline, and no other plugin is asked`() async throws {
    let setup = try await Setup([("first", "{}"), ("second", "{}")])
    let isCalled = Watched(false)
    setup.engine.setNotificationHandler { _, _ in
      isCalled.update { $0 = true }
      return .newData
    }
    let result = await setup.engine.notify(topic: "never", deadline: .milliseconds(5))
    #expect(result.outcome == .ended(.missedDeadline))
    #expect(setup.isTaken(result, by: "first"))
    #expect(setup.told("second", "notified-never").isEmpty && !isCalled.value)
    await setup.engine.shutdown()
  }

  @Test func `each of a thousand concurrent notifications is taken once, and calls of an instance do not overlap`()
    async throws
  {
    let setup = try await Setup([("first", #"{"takes": "a"}"#), ("second", "{}")])
    let topics = ["take", "nothing", "elsewhere", "fail", "twice"]
    let engine = setup.engine
    let outcomes = await withTaskGroup { group in
      for number in 0..<1000 {
        let topic = topics[number % topics.count]
        group.addTask { (topic, await engine.notify(topic: topic, deadline: .seconds(300)).outcome) }
      }
      return await group.reduce(into: [String: [NotificationResult.Outcome: Int]]()) {
        $0[$1.0, default: [:]][$1.1, default: 0] += 1
      }
    }
    #expect(
      outcomes == [
        "take": [.ended(.newData): 200], "nothing": [.ended(.noData): 200], "elsewhere": [.ended(.newData): 200],
        "fail": [.ended(.failed): 200], "twice": [.ended(.newData): 200],
      ])
    await engine.shutdown()
    #expect(setup.told("first", "calls") == ["1000"] && setup.told("second", "calls") == ["1000"])
    #expect(setup.told("first", "overlaps") == ["0"] && setup.told("second", "overlaps") == ["0"])
    // The second completion returns ALREADY, or STALE if another notification already uses the same slot.
    let second = setup.told("second", "second")
    #expect(second.count == 200 && second.allSatisfy { ["2", "3"].contains($0) })
  }

  @Test func `each notification during a shutdown ends, and an instance that has ended is not called`()
    async throws
  {
    let setup = try await Setup([("first", "{}")])
    let engine = setup.engine
    let ended = Watched(0)
    let notifying = Task {
      await withTaskGroup { group in
        for number in 0..<500 {
          group.addTask {
            let outcome = await engine.notify(topic: number % 2 == 0 ? "never" : "take", deadline: .seconds(300))
              .outcome
            ended.update { $0 += 1 }
            return outcome
          }
        }
        return await group.reduce(into: Set<NotificationResult.Outcome>()) { $0.insert($1) }
      }
    }
    try await ended.wait(for: "some outcomes") { $0 >= 10 }
    await engine.shutdown()
    let outcomes = await notifying.value
    #expect(outcomes.isSubset(of: [.ended(.newData), .closing]) && outcomes.contains(.closing))
    #expect(ended.value == 500)
    #expect(setup.told("first", "late-call").isEmpty)
    #expect(await engine.notify(topic: "take").outcome == .closing)
  }
}
