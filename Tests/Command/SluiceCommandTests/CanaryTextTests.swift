@testable import SluiceCommand
import SluiceJSON
import Testing

/// The text of `sluice ctl canary`.
@Suite struct CanaryTextTests {
  private static func answer(_ canary: String?, history: String = "") throws -> JSONValue {
    let text = #"{\#(canary.map { #""canary": \#($0), "# } ?? "")"history": [\#(history)]}"#
    return try JSONValue(parsing: Array(text.utf8))
  }

  private static func canary(_ latencies: String = "null", step: Int = 1) -> String {
    """
    {"step": \(step), "steps": [10, 50], "percent": 10, "holdMs": 60000, "ageMs": 1000, "transactions": 400,
     "onSilence": "hold", "nextLook": 200, "failedLimit": 9, "latencies": \(latencies), "changes": [],
     "candidate": {"snapshot": 2, "transactions": 150, "failed": 1, "failedPercent": [0.1, 3.6], "p50Ms": 2, "p99Ms": 9},
     "control": {"snapshot": 1, "transactions": 1300, "failed": 9, "failedPercent": [0.3, 1.3], "p50Ms": 2, "p99Ms": 8}}
    """
  }

  @Test func `the histogram has a line for each arm, and the text names what would end the canary`() throws {
    let latencies = #"{"fromMs": [1, 2, 4, 8], "candidate": [1, 70, 8, 0], "control": [0, 0, 1, 1000000]}"#
    let lines = CanaryText(try Self.answer(Self.canary(latencies))).text.split(separator: "\n").map(String.init)
    #expect(lines.contains { $0.hasPrefix("latency    1.00 ms  8.00 ms") }, "\(lines)")
    #expect(lines.contains("candidate  ▁█▂") && lines.contains("control      ▁█"), "\(lines)")
    #expect(
      lines.contains(
        "the arms are compared next at 200 requests of the candidate; 9 or more failed requests would end the canary"))
  }

  @Test func `a wide histogram is narrowed`() throws {
    let bounds = (0..<150).map { "\($0)" }.joined(separator: ", ")
    let latencies = #"{"fromMs": [\#(bounds)], "candidate": [\#(bounds)], "control": []}"#
    let lines = CanaryText(try Self.answer(Self.canary(latencies))).text.split(separator: "\n").map(String.init)
    let bars = try #require(lines.first { $0.hasPrefix("candidate  ▁") })
    #expect(bars.count == 11 + 50, "\(lines)")
    #expect(lines.contains { $0.hasPrefix("latency    ") && $0.count == 11 + 50 }, "\(lines)")
  }

  @Test func `if a step can end before latencies are compared, the text says so`() throws {
    let answer = try Self.answer(Self.canary())
    #expect(!CanaryText(answer).text.contains("latencies are"))
    answer["canary"]?["latency"] = true
    #expect(!CanaryText(answer).text.contains("latencies are"))
    answer["canary"]?["transactions"] = 399
    let words = "latencies are compared from 400 requests of the candidate on; a step can end after 399"
    #expect(CanaryText(answer).text.contains("\n\(words)\n"))
    answer["canary"]?["latency"] = false
    #expect(!CanaryText(answer).text.contains("latencies are"))
  }

  private static func shadow(same: Int, notCompared: Int, ageMs: Int = 60001) -> String {
    """
    {"step": 0, "steps": [], "percent": 0, "holdMs": 60000, "ageMs": \(ageMs), "candidate": {"snapshot": 2},
     "shadow": {"percent": 1, "differences": 4, "same": \(same), "different": 2, "notCompared": \(notCompared),
                "waiting": 1234, "dropped": 0, "ignored": ["body", "header x-time"],
                "findings": ["request 1, GET http://a/", "  a, on_request"]}}
    """
  }

  @Test func `a shadow shows the counts of its samples, and why it is held`() throws {
    let text = CanaryText(try Self.answer(Self.shadow(same: 10, notCompared: 13))).text
    #expect(
      text == """
        canary: snapshot 2 is in its shadow, for 60.0 s of 60.0 s
        \u{20}\u{20}

        samples           \u{20}
        same             10
        different         2
        not compared     13
        waiting       1,234
        dropped           0

        request 1, GET http://a/
          a, on_request
        held: more than half of the samples were not compared
        ignored differences: body, header x-time
        1 % of the new requests are sampled; 5 or more different samples would end the canary

        """)
    #expect(!CanaryText(try Self.answer(Self.shadow(same: 10, notCompared: 12))).text.contains("held"))
    #expect(!CanaryText(try Self.answer(Self.shadow(same: 10, notCompared: 13, ageMs: 1))).text.contains("held"))
  }

  @Test func `on a terminal, each screen is drawn over the one before`() throws {
    var watch = CanaryWatch(isTerminal: true)
    for _ in 1...2 {
      let text = watch.text(of: try Self.answer(Self.canary()))
      #expect(text.hasPrefix("\u{1B}[Hcanary: snapshot 2 serves 10 %, step 1 of 2") && text.hasSuffix("\u{1B}[J"))
      #expect(!watch.isOver)
    }
  }

  @Test func `elsewhere, a text is written when something was decided`() throws {
    var watch = CanaryWatch(isTerminal: false)
    let report = #"{"id": 7, "trigger": "canary", "outcome": "rolled-back", "snapshot": 1}"#
    #expect(!watch.text(of: try Self.answer(Self.canary())).isEmpty)
    #expect(watch.text(of: try Self.answer(Self.canary())).isEmpty)
    #expect(watch.text(of: try Self.answer(Self.canary(step: 2))).contains("step 2 of 2"))
    let end = try Self.answer(nil, history: report)
    #expect(watch.text(of: end).contains("no canary is running; the last decision:"))
    #expect(watch.isOver && watch.hasFailed(end))
    let rollback = #"{"id": 8, "trigger": "rollback", "outcome": "published", "snapshot": 1}"#
    #expect(watch.hasFailed(try Self.answer(nil, history: rollback)))
    var late = CanaryWatch(isTerminal: false)
    #expect(!late.text(of: end).isEmpty && late.isOver && late.hasFailed(end))
    var published = CanaryWatch(isTerminal: false)
    let answer = try Self.answer(
      nil, history: #"{"id": 9, "trigger": "canary", "outcome": "published", "snapshot": 2}"#)
    answer["probation"] = ["remainingMs": 1500, "followsCanary": true]
    let text = published.text(of: answer)
    #expect(
      text.hasPrefix("no canary is running; the new build is on probation for 1.50 s more; the last decision:\n"),
      "\(text)")
    #expect(!published.isOver && published.text(of: answer).isEmpty)
  }
}
