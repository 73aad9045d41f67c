import Sluice
import SluiceJSON
import SluiceMessages
import SluicePipeline
import SluicePluginHost
import SluiceReplay
import Testing

/// Tests only the comparison of two runs. The tests pass literals and check the differences.
@Suite struct ReplayComparisonTests {
  private static func call(
    _ stage: String = "a", _ callback: StageCall.Callback = .request, attempt: Int = 0, hop: Int = 0,
    verdict: Verdict = .proceed, suspended: Bool = false, _ changes: StageChange...
  ) -> StageCall {
    StageCall(
      attempt: attempt, hop: hop, stage: stage, callback: callback, verdict: verdict, wasSuspended: suspended,
      changes: changes)
  }

  private static func header(_ name: String, _ before: [String] = [], _ after: String...) -> StageChange {
    StageChange(.request, .header(name), before: before, after: after)
  }

  private static func compare(_ old: ReplayedExchange..., to new: ReplayedExchange...) -> ReplayComparison {
    ReplayComparison(index: 0, request: "GET http://a.example/", old: old, new: new)
  }

  private static func compare(_ old: [StageCall], to new: [StageCall]) -> [ReplayDifference] {
    compare(ReplayedExchange(calls: old), to: ReplayedExchange(calls: new)).differences
  }

  private static func difference(
    _ subject: String, _ old: String?, _ new: String?, _ callback: StageCall.Callback = .request
  ) -> ReplayDifference {
    ReplayDifference(stage: "a", callback: callback, subject: subject, old: old, new: new)
  }

  @Test func `equal runs have no difference`() {
    let calls = [Self.call("a", .request, Self.header("x", [], "1")), Self.call("b", .response, verdict: .respond)]
    #expect(Self.compare(calls, to: calls).isEmpty)
    #expect(Self.compare([], to: []).isEmpty)
  }

  @Test func `if the two builds add, remove or change a header differently, this is a difference`() {
    let old = [Self.call("a", .request, Self.header("x-a", [], "1"), Self.header("x-b", ["0"]))]
    let new = [Self.call("a", .request, Self.header("x-a", [], "1", "2"), Self.header("x-c", ["0"], "3"))]
    let expected: [ReplayDifference] = [
      Self.difference("header x-a", "1", "1 | 2"), Self.difference("header x-c", nil, "3"),
      Self.difference("header x-b", "none", nil),
    ]
    #expect(Self.compare(old, to: new) == expected)
  }

  @Test func `URL, method, status, body and trailers are compared`() {
    let old = [
      Self.call(
        "a", .request, StageChange(.request, .url, before: ["u"], after: ["v"]),
        StageChange(.request, .method, before: ["GET"], after: ["PUT"])),
      Self.call("a", .response, StageChange(.response, .status, before: ["200"], after: ["201"])),
    ]
    let new = [
      Self.call("a", .request, StageChange(.request, .url, before: ["u"], after: ["w"])),
      Self.call(
        "a", .response, StageChange(.response, .body, before: [], after: ["\"b\""]),
        StageChange(.response, .trailer("t"), before: [], after: ["1"]),
        StageChange(.request, .body, before: [], after: ["\"r\""])),
    ]
    let expected: Set<ReplayDifference> = [
      Self.difference("URL", "v", "w"), Self.difference("method", "PUT", nil),
      Self.difference("status", "201", nil, .response), Self.difference("body", nil, "\"b\"", .response),
      Self.difference("trailer t", nil, "1", .response), Self.difference("request body", nil, "\"r\"", .response),
    ]
    #expect(Set(Self.compare(old, to: new)) == expected)
  }

  @Test func `a difference in an earlier stage is not reported again for a later stage`() {
    let old = [Self.call("a", .request, Self.header("x", ["1"], "3"))]
    let new = [Self.call("a", .request, Self.header("x", ["2"], "3"))]
    #expect(Self.compare(old, to: new).isEmpty)
  }

  @Test(arguments: [
    (Verdict.respond, "respond"), (.retry(after: .seconds(2)), "retry after 2.0 seconds"),
    (.fail(StageFailure(code: "no", message: "never")), "fail with no: never"),
    (.fault(StageFailure(code: "stage_fault", message: "m")), "fault stage_fault: m"),
    (.suspended, "suspended, and never resumed"),
  ])
  func `verdicts are compared`(verdict: Verdict, text: String) {
    #expect(
      Self.compare([Self.call()], to: [Self.call("a", .request, verdict: verdict)])
        == [Self.difference("verdict", "continue", text)])
  }

  @Test func `a missing call is reported once, without its changes`() {
    let calls = [
      Self.call("a", .request, Self.header("x", [], "1")), Self.call("a", .response, attempt: 1, verdict: .respond),
    ]
    #expect(Self.compare(calls, to: []).map(\.subject) == ["call", "call"])
    #expect(Self.compare([], to: calls).map(\.new) == ["called", "called"])
    let second = Self.compare([Self.call(), Self.call()], to: [Self.call()])
    #expect(second == [Self.difference("call", "called", nil)])
  }

  @Test func `suspension is a separate difference`() {
    #expect(
      Self.compare([Self.call()], to: [Self.call("a", .request, suspended: true)])
        == [Self.difference("suspended", nil, "yes")])
  }

  @Test func `results are compared: error, message, attempts, response`() {
    let old = ReplayedExchange(
      attempts: 1, response: [StageChange(.response, .status, before: [], after: ["200"])])
    let new = ReplayedExchange(
      attempts: 2, error: TransactionError(code: "http_status", message: "500 it is", stage: "a"))
    let differences = Self.compare(old, to: new).differences
    let expected: [ReplayDifference] = [
      ReplayDifference(subject: "error", old: nil, new: "http_status of a"),
      ReplayDifference(subject: "message", old: nil, new: "500 it is"),
      ReplayDifference(subject: "attempts", old: "1", new: "2"),
      ReplayDifference(subject: "status", old: "200", new: nil),
    ]
    #expect(differences == expected)
  }

  @Test func `variation between two runs of one build is not a difference`() {
    func run(_ time: String, _ build: String) -> ReplayedExchange {
      ReplayedExchange(
        calls: [Self.call("a", .request, Self.header("x-time", [], time), Self.header("x-build", [], build))])
    }
    let outcome = Self.compare(run("1", "A"), run("2", "A"), to: run("3", "B"), run("4", "B"))
    #expect(outcome.differences == [Self.difference("header x-build", "A", "B")])
    #expect(outcome.varying.map(\.subject) == ["header x-time"])
    let sometimes = Self.compare(run("1", "A"), ReplayedExchange(), to: run("1", "A"), run("1", "A"))
    #expect(!sometimes.isSame && sometimes.differences.isEmpty && sometimes.varying.isEmpty)
    #expect(sometimes.notCompared == ["a, on_request: call differs between two runs of one build"])
  }

  @Test func `a header whose value varies and that the new build no longer sets is a difference`() {
    func run(_ time: String) -> ReplayedExchange {
      ReplayedExchange(calls: [Self.call("a", .request, Self.header("x-time", [], time))])
    }
    let none = ReplayedExchange(calls: [Self.call()])
    let removed = Self.compare(run("1"), run("2"), to: none, none)
    #expect(removed.differences == [Self.difference("header x-time", "1", nil)] && removed.varying.isEmpty)
    let added = Self.compare(none, none, to: run("1"), run("2"))
    var new = Self.difference("header x-time", nil, "1")
    new.newVaries = true
    #expect(added.differences == [new])
    let sometimes = Self.compare(run("1"), none, to: run("1"), run("2"))
    #expect(sometimes.differences.isEmpty && !sometimes.isSame)
    #expect(sometimes.notCompared == ["a, on_request: header x-time differs between two runs of one build"])
  }

  @Test func `of a verdict that varies, the kind and the code are compared`() {
    func run(_ verdict: Verdict) -> ReplayedExchange {
      ReplayedExchange(calls: [Self.call("a", .response, verdict: verdict)])
    }
    func retry(_ seconds: Int) -> ReplayedExchange { run(.retry(after: .seconds(seconds))) }
    #expect(Self.compare(retry(1), retry(2), to: retry(3), retry(4)).isSame)
    #expect(
      Self.compare(retry(1), retry(2), to: run(.proceed), run(.proceed)).differences.map(\.subject) == ["verdict"])
    func fail(_ code: ErrorCode, _ message: String) -> ReplayedExchange {
      run(.fail(StageFailure(code: code, message: message)))
    }
    #expect(Self.compare(fail("a", "1"), fail("a", "2"), to: fail("a", "3"), fail("a", "4")).isSame)
    #expect(!Self.compare(fail("a", "1"), fail("a", "2"), to: fail("b", "1"), fail("b", "2")).isSame)
  }

  @Test func `an outcome that varies is a difference or is not compared, but never the same`() {
    func run(_ status: String) -> ReplayedExchange {
      ReplayedExchange(response: [StageChange(.response, .status, before: [], after: [status])])
    }
    #expect(Self.compare(run("200"), run("500"), to: run("401"), run("403")).differences.map(\.subject) == ["status"])
    let mixed = Self.compare(run("200"), run("500"), to: run("200"), run("200"))
    #expect(mixed.notCompared == ["result: status differs between two runs of one build"] && !mixed.isSame)
  }

  @Test func `the recorded outcome is compared with that of the old build`() {
    let failed = ReplayedExchange(error: TransactionError(code: "no_token", message: "m", stage: "a"))
    var comparison = Self.compare(failed, failed, to: failed, failed)
    comparison.compare(with: RecordedOutcome(status: nil, error: "no_token", stage: "a"), old: [failed, failed])
    #expect(comparison.isSame)
    comparison.compare(with: RecordedOutcome(status: 200), old: [failed, failed])
    #expect(
      comparison.notCompared == [
        "result: status is 200 in the recording, but none in the replay of the old build",
        "result: error is none in the recording, but no_token of a in the replay of the old build",
      ])
    comparison.index = 1
    let same = Self.compare(ReplayedExchange(), to: ReplayedExchange())
    #expect(
      ReplayReport(comparisons: [same, comparison]).text() == """
        2 requests: 1 same, 1 not compared completely
        request 2: not compared: result: error is none in the recording, but no_token of a in the replay of the old build
        request 2: not compared: result: status is 200 in the recording, but none in the replay of the old build
        """)
    var unknown = same
    unknown.compare(with: nil, old: [ReplayedExchange()])
    #expect(!unknown.isSame)
  }

  @Test func `call-outs are compared, and those without an answer are named`() {
    func run(_ callOuts: String..., unanswered: [String] = []) -> ReplayedExchange {
      var exchange = ReplayedExchange()
      (exchange.callOuts, exchange.unansweredCallOuts) = (callOuts.map { ReplayedCallOut(name: $0) }, unanswered)
      return exchange
    }
    #expect(Self.compare(run("GET a"), to: run("GET a")).isSame)
    #expect(
      Self.compare(run("GET a"), to: run()).differences
        == [ReplayDifference(subject: "call-out GET a", old: "once", new: nil)])
    #expect(Self.compare(run("GET a"), to: run("GET a", "GET a")).differences.map(\.new) == ["2 times"])
    let unanswered = run("GET a", unanswered: ["GET a"])
    #expect(
      Self.compare(unanswered, to: unanswered).notCompared
        == ["call-out GET a: the recording has no answer; give one with --answer"])
  }

  @Test func `the report can be written as text and as JSON`() throws {
    let comparison = Self.compare(
      ReplayedExchange(calls: [Self.call("a", .request, Self.header("x", [], "1"))]),
      to: ReplayedExchange(
        calls: [Self.call("a", .request, Self.header("x", [], "2\n")), Self.call("b", .response, attempt: 1)],
        error: TransactionError(code: "no", message: "never")))
    let error = PluginError(.trialCrashed, .plugin(name: nil, path: "/a.so"), "crashed with SIGSEGV")
    var report = ReplayReport(
      comparisons: [comparison], failures: [.init(.new, error)], omissions: [.init(index: 4, reason: "too large")])
    #expect(
      report.text() == """
        new: library /a.so: crashed with SIGSEGV
        1 request: 1 differs, 0 same
        request 1, GET http://a.example/
          a, on_request
            header x: 1 → 2\\n
          b, on_response (attempt 2, hop 1)
            is called now
          result
            error: none → no
            message: none → never
        request 5: not replayed: too large
        """)
    let document = report.document
    #expect(document["same"]?.bool == false)
    #expect(document["failures"]?[0]?["side"]?.string == "new")
    #expect(document["omitted"]?[0]?["index"]?.integer == 4)
    let first = document["requests"]?[0]?["differences"]?[0]
    let expected: JSONValue = [
      "attempt": 0, "hop": 0, "stage": "a", "callback": "on_request", "subject": "header x", "old": "1", "new": "2\n",
    ]
    #expect(first == expected)
    report = ReplayReport(comparisons: [Self.compare(ReplayedExchange(), to: ReplayedExchange())])
    #expect(report.isSame && report.text() == "1 request: same")
    #expect(ReplayReport().text() == "nothing was compared")
  }

  /// Comparisons of one header, for each request with the values of two runs of each build.
  private static func report(_ requests: [(old: [String], new: [String])]) -> ReplayReport {
    func runs(_ values: [String]) -> [ReplayedExchange] {
      values.map { ReplayedExchange(calls: [call("a", .request, header("x", [], $0))]) }
    }
    var report = ReplayReport(
      comparisons: requests.enumerated().map { index, values in
        ReplayComparison(index: index, request: "GET /", old: runs(values.old), new: runs(values.new))
      })
    report.findConstants()
    return report
  }

  @Test func `a value that was different in each request and is now always the same is a difference`() {
    let report = Self.report([(["1", "2"], ["c", "c"]), (["3", "4"], ["c", "c"])])
    #expect(
      report.text() == """
        2 requests: 2 differ, 0 same
        requests 1, 2, GET /
          a, on_request
            header x: a different value each time → c
        """)
    // A time in seconds, and a new value that still varies between requests.
    #expect(Self.report([(["1", "2"], ["3", "3"]), (["1", "2"], ["3", "3"])]).isSame)
    #expect(Self.report([(["1", "2"], ["5", "5"]), (["3", "4"], ["6", "6"])]).isSame)
    #expect(Self.report([(["1", "2"], ["c", "c"])]).isSame, "one request can be a coincidence")
  }

  @Test func `a value that varies only in the new build is shown once for all requests`() {
    let report = Self.report((0..<30).map { (["a", "a"], ["\($0)", "\($0)-"]) })
    #expect(
      report.text() == """
        30 requests: 30 differ, 0 same
        requests 1 to 30, GET /
          a, on_request
            header x: a → 0, which varies
        """)
    #expect(report.document["requests"]?[0]?["differences"]?[0]?["newVaries"]?.bool == true)
  }

  @Test func `an empty value is shown as an empty text`() {
    #expect(Self.report([(["a", "a"], ["", ""])]).text().hasSuffix("    header x: a → \"\""))
  }

  @Test func `a long list in the report ends with a count`() {
    var comparison = ReplayComparison(index: 0, request: "GET /", old: [], new: [])
    comparison.differences = (10..<40).map { Self.difference("header x-\($0)", "0", "1") }
    comparison.varying = (10..<40).map { Self.difference("header y-\($0)", "0", "1") }
    var report = ReplayReport(
      comparisons: [comparison], omissions: (1...30).map { .init(index: $0 * 2, reason: "too large") })
    let lines = report.text().split(separator: "\n")
    #expect(lines.count == 2 + 1 + 20 + 1 + 1 + 1, "\(report.text())")
    #expect(lines.contains("  and 10 more differences"))
    #expect(lines.contains { $0.hasPrefix("varies between") && $0.hasSuffix("header y-19 and 20 more") })
    #expect(lines.last == "requests 3, 5, 7, 9, 11, 13, 15, 17, 19, 21 and 20 more: not replayed: too large")
    report.omissions = (1...30).map { .init(index: $0, reason: "reason \($0)") }
    #expect(report.text().hasSuffix("and 20 more that were not replayed"))
  }

  @Test func `a difference that several requests share is shown once, with their numbers`() {
    func comparison(_ index: Int, _ url: String, _ values: String...) -> ReplayComparison {
      var comparison = ReplayComparison(index: index, request: "GET http://a.example\(url)", old: [], new: [])
      comparison.differences = values.enumerated().map { Self.difference("header x-\($0.offset)", "0", $0.element) }
      return comparison
    }
    let report = ReplayReport(comparisons: [
      comparison(0, "/", "1"), comparison(1, "/", "1"), comparison(2, "/", "1"), comparison(4, "/b", "1", "2"),
      comparison(5, "/c"), comparison(6, "/d", "3"),
    ])
    #expect(
      report.text() == """
        6 requests: 5 differ, 1 same
        requests 1 to 3, 5, GET http://a.example/ and others
          a, on_request
            header x-0: 0 → 1
        request 5, GET http://a.example/b
          a, on_request
            header x-1: 0 → 2
        request 7, GET http://a.example/d
          a, on_request
            header x-0: 0 → 3
        """)
    #expect(
      report.text(showing: 1) == """
        6 requests: 5 differ, 1 same
        requests 1 to 3, 5, GET http://a.example/ and others
          a, on_request
            header x-0: 0 → 1
        and 2 more that differ
        """)
  }
}
