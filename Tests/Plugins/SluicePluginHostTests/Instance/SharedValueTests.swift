import SluiceJSON
import SluicePipeline
import SluiceTestKit
import SluiceTestPipeline
import Testing

@testable import SluicePluginHost

/// Bytes that the instances of a plugin share (`sluice.shared/1`).
struct SharedValueTests {
  private func table() -> SharedTable { SharedTable(SharedTable.Counter()) }
  private func name(_ text: String) -> [UInt8] { Array(text.utf8) }
  private let start = Instant(nanoseconds: 1000)
  private func after(_ seconds: Int) -> Instant { start + .seconds(seconds) }

  @Test func `a plugin can set, read, exchange and remove a value, and the value's version decides what succeeds`()
    async throws
  {
    let stage = try await StageFixture("shares-values")
    _ = try stage.run(StageFixture.request())
    let statuses = [
      "absent": "1", "absent-size": "0", "put": "0", "get": "0", "same-version": "1", "get-without-places": "0",
      "small-buffer": "5", "untouched": "1", "no-buffer": "5", "put-again": "0", "greater": "1", "exchange-stale": "1",
      "told-current": "1", "exchange": "0", "told-new": "1", "exchange-present": "1", "told-present": "1",
      "exchange-new": "0", "empty": "0", "exchange-unknown": "1", "told-absent": "1", "remove-stale": "1",
      "remove": "0", "remove-again": "1", "remove-any": "0", "elsewhere": "0",
    ]
    for (name, status) in statuses { #expect(stage.told(name) == [status], "\(name)") }
  }

  @Test func `malformed values, and values beyond a limit, are refused and not set`() async throws {
    let stage = try await StageFixture("shares-values")
    _ = try stage.run(StageFixture.request())
    let invalid = [
      "no-name", "no-name-address", "forged-name", "long-name", "no-value-address", "forged-value", "large-value",
      "no-timeout", "no-version", "no-buffer-address", "forged-capacity",
    ]
    for name in invalid { #expect(stage.told(name) == ["-1"], "\(name)") }
    #expect(stage.instance.violations[.invalidArgument] == invalid.count)
    #expect(stage.told("no-host") == ["6"] && stage.told("nothing-set") == ["1"] && stage.told("longest-name") == ["0"])
    #expect(stage.told("room") == ["15"])
    #expect(stage.log.value.contains { $0.message.contains("has reached a limit: the plugin \"fixture\" shares") })
  }

  @Test func `shared values can be used from create until destroy has returned, and outlive the instance`() async throws
  {
    let stage = try await StageFixture("shares-values")
    #expect(stage.told("create") == ["0"] && stage.told("instances") == ["1"])
    let other = try PluginInstance(stage.instance.generation, name: "other", configuration: [:], runtime: stage.runtime)
    #expect(stage.told("instances") == ["1", "2"])
    stage.instance.destroy(within: .seconds(5))
    other.destroy(within: .seconds(5))
    #expect(stage.told("destroy") == ["0", "0"])
    let last = try PluginInstance(stage.instance.generation, name: "last", configuration: [:], runtime: stage.runtime)
    #expect(stage.told("instances") == ["1", "2", "3"])
    last.destroy(within: .seconds(5))
  }

  @Test func `each plugin has its own values, and no two values of an engine have the same version`() {
    let versions = SharedTable.Counter()
    let (one, other) = (SharedTable(versions), SharedTable(versions))
    #expect(one.set(name("a"), [1], until: nil, at: start) == .done(version: 1))
    #expect(other.get(name("a"), at: start) == nil)
    #expect(other.set(name("a"), [2], until: nil, at: start) == .done(version: 2))
    #expect(one.get(name("a"), at: start)?.bytes == [1])
  }

  @Test func `a value that has expired does not exist`() {
    let table = table()
    #expect(table.set(name("a"), [1], until: after(2), at: start) == .done(version: 1))
    #expect(table.get(name("a"), at: after(1))?.version == 1)
    #expect(table.get(name("a"), at: after(2)) == nil)
    #expect(table.set(name("a"), [2], until: nil, if: .version(1), at: after(2)) == .differs(version: 0))
    #expect(!table.remove(name("a"), version: 1, at: after(2)))
    #expect(table.set(name("b"), [1], until: after(2), at: start) == .done(version: 2))
    #expect(table.set(name("b"), [2], until: nil, if: .version(0), at: after(2)) == .done(version: 3))
    #expect(table.get(name("b"), at: .distantFuture)?.bytes == [2])
  }

  @Test func `the number of values of a plugin is limited, and expired values do not count`() {
    let table = table()
    for index in 0..<SharedTable.maximumCount {
      let expiry = index < 2 ? after(1) : nil
      #expect(table.set(name("\(index)"), [], until: expiry, at: start) == .done(version: UInt64(index + 1)))
    }
    #expect(table.set(name("more"), [], until: nil, at: start) == .full)
    // A value that exists can be set even at the limit.
    #expect(table.set(name("5"), [5], until: nil, at: start) != .full)
    #expect(table.set(name("more"), [], until: nil, at: after(1)) != .full)
    #expect(table.set(name("and more"), [], until: nil, at: after(1)) != .full)
    #expect(table.set(name("too many"), [], until: nil, at: after(1)) == .full)
    #expect(table.remove(name("more"), version: 0, at: after(1)))
    #expect(table.set(name("too many"), [], until: nil, at: after(1)) != .full)
  }

  @Test func `the bytes of a plugin's values are limited, including their names`() {
    let table = table()
    let half = [UInt8](repeating: 0, count: SharedTable.maximumBytes / 2)
    #expect(table.set(name("a"), half, until: nil, at: start) == .done(version: 1))
    #expect(table.set(name("b"), half, until: nil, at: start) == .full)
    #expect(table.set(name("b"), Array(half.dropLast(2)), until: nil, at: start) != .full)
    #expect(table.set(name("c"), [], until: nil, at: start) == .full)
    // If smaller values replace larger ones, there is room for another value.
    #expect(table.set(name("a"), [], until: nil, at: start) != .full)
    #expect(table.set(name("c"), [1], until: nil, at: start) != .full)
  }

  @Test func `if many threads replace the same version of a value at the same time, exactly one succeeds`() async {
    let table = table()
    for round in 0..<100 {
      let before = table.get(name("a"), at: start)?.version ?? 0
      let winners = await withTaskGroup(of: Bool.self) { group in
        for index in 0..<8 {
          group.addTask {
            let outcome = table.set(
              Array("a".utf8), [UInt8(index)], until: nil, if: .version(before), at: Instant(nanoseconds: 1))
            if case .done = outcome { return true }
            return false
          }
        }
        return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
      }
      #expect(winners == 1, "round \(round)")
    }
  }
}
