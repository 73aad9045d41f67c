import Sluice
import SluiceMessages
import SluicePipeline
import SluiceReplay
import Testing

/// Of a value that varies between two runs of the old build, only the parts that vary are left out of the comparison.
@Suite struct ReplayMaskTests {
  private enum Outcome: String, Sendable {
    case same, differs, unclear
  }

  private static func outcome(_ old: [ReplayedExchange], _ new: [ReplayedExchange]) -> Outcome {
    let comparison = ReplayComparison(index: 0, request: "GET http://a.example/", old: old, new: new)
    if !comparison.differences.isEmpty { return .differs }
    return comparison.notCompared.isEmpty ? .same : .unclear
  }

  private static func run(_ part: StageChange.Part, _ after: [String]) -> ReplayedExchange {
    let change = StageChange(.request, part, before: [], after: after)
    return ReplayedExchange(calls: [StageCall(stage: "a", callback: .request, changes: [change])])
  }

  /// Compares runs of the old build with values for the times 1 and 2 with runs of the new one for the times 3 and 4.
  private static func outcome(
    _ part: StageChange.Part, _ old: (String) -> [String], _ new: (String) -> [String]
  ) -> Outcome {
    outcome(["1", "2"].map { run(part, old($0)) }, ["3", "4"].map { run(part, new($0)) })
  }

  @Test func `values of a field are compared by position, with their number`() {
    func outcome(_ old: (String) -> [String], _ new: (String) -> [String]) -> Outcome {
      for part in [StageChange.Part.header("x"), .trailer("x")] where Self.outcome(part, old, new) != .same {
        return Self.outcome(part, old, new)
      }
      return .same
    }
    #expect(outcome({ ["admin", $0] }, { ["admin", $0] }) == .same)
    #expect(outcome({ ["admin", $0] }, { [$0] }) == .differs)
    #expect(outcome({ ["admin", $0] }, { ["user", $0] }) == .differs)
    #expect(outcome({ [$0, $0] }, { [$0] }) == .differs)
    #expect(outcome({ [$0] }, { _ in [""] }) == .differs)
    #expect(outcome({ [$0] }, { _ in [] }) == .differs)
    #expect(outcome({ [$0] }, { _ in ["x"] }) == .same)
    #expect(outcome({ _ in ["x"] }, { [$0] }) == .differs)
    #expect(outcome({ _ in ["3"] }, { [$0] }) == .unclear)
    #expect(outcome({ $0 == "1" ? [$0] : [$0, $0] }, { [$0] }) == .unclear)
  }

  @Test(arguments: [
    ("http://a.example/v1?t=TIME", Outcome.same), ("http://evil.example/v1?t=TIME", .differs),
    ("https://a.example/v1?t=TIME", .differs), ("http://a.example:81/v1?t=TIME", .differs),
    ("http://a.example/v2?t=TIME", .differs), ("http://a.example/v1/x?t=TIME", .differs),
    ("http://a.example/v1?t=TIME&u=1", .differs), ("http://a.example/v1?u=TIME", .differs),
    ("http://a.example/v1?t=", .differs), ("http://a.example/v1?t=TIME#f", .differs), ("x", .differs),
  ])
  private func `of a URL, each component and each parameter is compared`(_ new: String, _ outcome: Outcome) {
    func at(_ text: String) -> (String) -> [String] { { time in [text.split("TIME", joining: time)] } }
    for part in [StageChange.Part.url, .header("location")] {
      #expect(Self.outcome(part, at("http://a.example/v1?t=TIME"), at(new)) == outcome)
    }
    let path = Self.outcome(.url, at("http://a.example/TIME/b"), at("http://a.example/TIME/c"))
    #expect(path == .differs)
  }

  @Test func `a URL of which only a hash shows that a secret varies is not compared completely`() {
    func url(_ path: String) -> (String) -> [String] { { ["http://a.example/\(path)?sig=REDACTED [0000000\($0)]"] } }
    #expect(Self.outcome(.url, url("a"), url("a")) == .unclear)
    #expect(Self.outcome(.url, url("a"), url("b")) == .differs)
  }

  @Test(arguments: [
    (#"{"t": TIME, "auth": "k", "list": [1, {"u": "TIME"}]}"#, Outcome.same),
    (#"{"t": TIME}"#, .differs), (#"{"t": TIME, "auth": "l", "list": [1, {"u": "TIME"}]}"#, .differs),
    (#"{"t": TIME, "auth": "k", "list": [1, {"u": ""}]}"#, .differs),
    (#"{"t": "TIME", "auth": "k", "list": [1, {"u": "TIME"}]}"#, .differs),
    (#"{"t": TIME, "auth": "k", "list": [1, {"u": "TIME"}, 2]}"#, .differs),
    (#"{"t": TIME, "auth": null, "list": [1, {"u": "TIME"}]}"#, .differs), ("TIME", .differs),
  ])
  private func `of a JSON body, each member is compared`(_ new: String, _ outcome: Outcome) {
    func body(_ text: String) -> (String) -> [String] { { time in ["\"\(text.split("TIME", joining: time))\""] } }
    let old = #"{"t": TIME, "auth": "k", "list": [1, {"u": "TIME"}]}"#
    #expect(Self.outcome(.body, body(old), body(new)) == outcome)
  }

  @Test func `of another body, its presence is compared, and its parameters if it is a form`() {
    func text(_ text: String) -> (String) -> [String] { { time in ["\"\(text.split("TIME", joining: time))\""] } }
    #expect(Self.outcome(.body, text("at TIME"), text("x")) == .same)
    #expect(Self.outcome(.body, text("at TIME"), { _ in [] }) == .differs)
    #expect(Self.outcome(.body, text("a=1&t=TIME"), text("a=1&t=TIME")) == .same)
    #expect(Self.outcome(.body, text("a=1&t=TIME"), text("a=2&t=TIME")) == .differs)
    func digest(_ count: Int) -> (String) -> [String] { { ["\(count) bytes, hash 000000000000000\($0)"] } }
    #expect(Self.outcome(.body, digest(300), digest(300)) == .unclear)
    #expect(Self.outcome(.body, digest(300), text("x")) == .differs)
  }

  @Test func `of a delay that varies, the order of magnitude is compared`() {
    func retry(_ delays: Duration...) -> [ReplayedExchange] {
      delays.map { ReplayedExchange(calls: [StageCall(stage: "a", callback: .response, verdict: .retry(after: $0))]) }
    }
    let old = retry(.microseconds(10), .microseconds(30))
    #expect(Self.outcome(old, retry(.microseconds(20), .microseconds(99))) == .same)
    #expect(Self.outcome(old, retry(.seconds(10), .seconds(10))) == .differs)
    #expect(Self.outcome(old, retry(.zero, .zero)) == .differs)
    #expect(Self.outcome(retry(.seconds(1), .seconds(1)), retry(.seconds(2), .seconds(2))) == .differs)
  }

  @Test func `the number, the queries and the fields of call-outs are compared`() {
    func run(_ query: String, _ value: String, count: Int = 1) -> ReplayedExchange {
      let request = [
        StageChange(.request, .url, before: [], after: ["http://a.example/t\(query)"]),
        StageChange(.request, .header("x-k"), before: [], after: [value]),
      ]
      var exchange = ReplayedExchange()
      exchange.callOuts = Array(repeating: .init(name: "GET http://a.example/t", request: request), count: count)
      return exchange
    }
    let old = [run("?a=1", "k"), run("?a=1", "k")]
    #expect(Self.outcome(old, old) == .same)
    for new in [run("?a=2", "k"), run("", "k"), run("?a=1", "l"), run("?a=1", "k", count: 2)] {
      #expect(Self.outcome(old, [new, new]) == .differs)
    }
    #expect(Self.outcome([run("?t=1", "k"), run("?t=2", "k")], [run("?t=3", "k"), run("?t=4", "k")]) == .same)
    #expect(Self.outcome([run("?t=1", "k"), run("?t=2", "k")], [run("?t=3", "l"), run("?t=4", "l")]) == .differs)
    let text = ReplayComparison(index: 0, request: "r", old: old, new: [run("?a=2", "k")]).differences
    #expect(
      text.map(\.old) == ["once: query ?a=1, header x-k k"] && text.map(\.new) == ["once: query ?a=2, header x-k k"])
  }
}

extension String {
  /// The text with another text in place of each occurrence of a word.
  fileprivate func split(_ word: String, joining other: String) -> String {
    split(separator: word, omittingEmptySubsequences: false).joined(separator: other)
  }
}
