import SluiceMessages
import SluicePipeline
import SluiceTestKit
import Testing

@testable import SluicePluginHost

/// Structured log records of a plugin (`sluice.log/1`).
struct LogRecordTests {
  @Test func `a record has its attributes and the facts of its exchange, on one line`() async throws {
    let stage = try await StageFixture("logs-records")
    _ = try stage.run(StageFixture.request("GET", ["x-request-id": "r-1"]))
    #expect(stage.told("set") == ["0"] && stage.told("whole") == ["0"])
    let entry = try #require(stage.log.value.first { $0.message.hasPrefix("whole") })
    #expect(entry.message == "whole\\nrecord" && entry.level == .warning)
    #expect(entry.stage == "stage" && entry.plugin == "fixture" && entry.generation == 1)
    #expect(entry.subject?.requestID == "r-1" && entry.subject?.attempt == 0)
    let names = [
      "a.text", "a.integer", "a.number", "a.bool", "a.secret", "a.long", "a.bytes", "a.empty", "both", "of.transaction",
    ]
    #expect(entry.attributes.map(\.name) == names)
    #expect(entry.attributes["a.text"] == "one\\ntwo \"x\"")
    #expect(entry.attributes["a.integer"] == .integer(.min) && entry.attributes["a.bool"] == true)
    // If two attributes have the same name, the later one is used.
    #expect(entry.attributes["a.number"] == 2)
    #expect(entry.attributes["a.bytes"] == "a\u{FFFD}" && entry.attributes["a.empty"] == "")
    guard case .text(let long)? = entry.attributes["a.long"] else { throw TestKitError("no long text") }
    #expect(long.utf8.count <= Attribute.textBytes && long.hasSuffix("…"))
    // The record has its own attributes and the attributes of the transaction, and each text is on one line.
    #expect(entry.attributes["both"] == "record" && entry.attributes["of.transaction"] == "three\\nfour")
    #expect(entry.attributes.first { $0.name == "a.secret" }?.shownValue == "REDACTED")
  }

  @Test func `a record that is malformed is refused, counted, and not logged`() async throws {
    let stage = try await StageFixture("logs-records")
    _ = try stage.run(StageFixture.request())
    let refused = [
      "null-record", "short-record", "unknown-level", "no-message-address", "forged-message-size",
      "no-attributes-address", "too-many", "forged-count", "empty-name", "digit-first", "space-in-name", "long-name",
      "no-name-address", "no-kind", "unknown-kind", "unknown-flag", "not-a-number", "infinite", "neither",
      "no-text-address", "enabled-unknown",
    ]
    for name in refused { #expect(stage.told(name) == ["-1"], "\(name)") }
    #expect(stage.instance.violations[.invalidArgument] == refused.count)
    #expect(stage.told("enabled-without-host") == ["6"])
    #expect(!stage.log.value.contains { $0.message == "no" || refused.contains($0.message) })
  }

  @Test func `a record with a forbidden exchange is refused, and a record without an exchange works on any thread`()
    async throws
  {
    let stage = try await StageFixture("logs-records")
    _ = try stage.run(StageFixture.request())
    #expect(stage.told("forged-exchange") == ["3"] && stage.instance.violations[.keptExchange] == 1)
    #expect(stage.told("elsewhere-with-exchange") == ["-3"] && stage.instance.violations[.wrongThread] == 1)
    #expect(stage.told("elsewhere") == ["0"])
    let entries = stage.log.value.filter { $0.message == "elsewhere" || $0.message == "kept" }
    #expect(entries.count == 1 && entries.allSatisfy { $0.subject == nil && $0.attributes.isEmpty })
  }

  @Test func `records are accepted from create until destroy has returned`() async throws {
    let stage = try await StageFixture("logs-records")
    #expect(stage.told("create") == ["0"] && stage.log.value.contains { $0.message == "in create" })
    stage.instance.destroy(within: .seconds(5))
    #expect(stage.told("destroy") == ["0"] && stage.log.value.contains { $0.message == "in destroy" })
  }

  @Test func `a plugin can query which levels are logged, and its lines of lower levels are dropped`() async throws {
    let all = try await StageFixture("logs-records")
    _ = try all.run(StageFixture.request())
    for level in ["debug", "info", "warning", "error"] { #expect(all.told("enabled-\(level)") == ["0"]) }
    #expect(all.log.value.contains { $0.message == "quiet" && $0.level == .debug })
    let fewer = try await StageFixture("logs-records", minimumLogLevel: .info)
    _ = try fewer.run(StageFixture.request())
    #expect(fewer.told("enabled-debug") == ["1"] && fewer.told("enabled-info") == ["0"])
    #expect(fewer.told("quiet") == ["0"] && !fewer.log.value.contains { $0.message == "quiet" })
    // The fixture's lines have the level info, so `log` drops them too.
    let fewest = try await StageFixture("logs-records", minimumLogLevel: .warning)
    _ = try fewest.run(StageFixture.request())
    #expect(fewest.told("quiet").isEmpty && fewest.log.value.contains { $0.message.hasPrefix("whole") })
    #expect(!fewest.warnings.isEmpty)
  }

  @Test func `a host without optional features still has the tables of records and attributes`() async throws {
    let stage = try await StageFixture("logs-records", features: [])
    #expect(stage.told("create") == ["0"])
  }
}
