import Glibc
import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// `--events` of send and run, and `sluice verify-trace`.
@Suite struct EventLogTests {
  private func lines(_ path: String) throws -> [JSONValue] {
    try FileTree.readText(path).split(separator: "\n").map { try JSONValue(parsing: String($0)) }
  }

  private func log(_ kinds: [String], _ change: (Int) -> String = { _ in "" }) -> String {
    kinds.enumerated().map { index, kind in
      let status = ["will_execute", "did_configure", "did_issue"].contains(kind) ? "" : #","status":200"#
      let end =
        switch kind {
        case "did_complete": #","outcome":"succeeded","durationNs":\#(index)"#
        case "did_end_hop": #","durationNs":2"#
        default: ""
        }
      return #"{"event":"\#(kind)","transaction":"01234567-89ab-4def-8123-456789abcdef","timeNs":\#(100 + index),"#
        + #""attempt":0,"hop":0,"requestId":"r","method":"GET","url":"http://h/"\#(status)\#(end)\#(change(index))}"#
        + "\n"
    }.joined()
  }

  private static let success = [
    "will_execute", "did_configure", "did_issue", "did_receive", "did_end_hop", "did_validate_response", "did_extract",
    "did_validate_payload", "did_complete",
  ]

  @Test func `send writes the events of a success, and verify-trace finds no broken rule`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let path = folder.path("events.jsonl")
    let sent = try await Tool.run("send", "\(server.baseURL)/a?sig=s3cret&b=c", "--events", path)
    #expect(sent.status == 0)
    let events = try lines(path)
    #expect(events.map { $0["event"]?.string } == Self.success)
    #expect(Set(events.map { $0["transaction"]?.string }).count == 1)
    #expect(events.allSatisfy { $0["url"]?.string == "\(server.baseURL)/a?sig=REDACTED&b=c" })
    let end = try #require(events.last)
    #expect(end["outcome"]?.string == "succeeded")
    #expect(end["status"]?.integer == 200)
    #expect(end["timings"]?["bytesReceived"]?.integer != nil)
    let verdict = try await Tool.run("verify-trace", path)
    #expect(verdict.status == 0)
    #expect(verdict.outputText.contains("9 events of 1 transactions, no rule broken"))
  }

  @Test func `results and did_complete have the attributes that stages have set, with secrets hidden`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let product = try await PluginCompiler.compile("sets-attributes")
    chmod(product.path, 0o755)
    let folder = try TemporaryDirectory()
    let path = folder.path("events.jsonl")
    let file = try folder.write(
      #"{"plugins": {"first": {"library": "\#(product.path)"}}, "request": ["first"], "response": ["first"]}"#,
      to: "c.json")
    let run = try await Tool.run(
      "run", "-q", "-c", file, "--events", path, input: #"{"url": "\#(server.baseURL)/a"}"#)
    #expect(run.status == 0, "\(run.errorText)")
    let attributes: JSONValue = [
      "http.route": "/items/{id}", "tries": 2, "share": 0.5, "is-new": false, "user.id": "REDACTED",
    ]
    #expect(try run.documents.first?["attributes"] == attributes)
    let events = try lines(path)
    #expect(events.last?["event"] == "did_complete" && events.last?["attributes"] == attributes)
    #expect(events.dropLast().allSatisfy { $0["attributes"] == nil })
    let verdict = try await Tool.run("verify-trace", path)
    #expect(verdict.status == 0, "\(verdict.outputText)")
    withExtendedLifetime(product) {}
  }

  @Test(arguments: [
    #"{}"#, #"[]"#, #"{"a b": 1}"#, #"{"1a": 1}"#, #"{"": 1}"#, #"{"a": null}"#, #"{"a": {}}"#, #"{"a": [1]}"#,
  ])
  func `verify-trace refuses invalid attributes`(_ attributes: String) async throws {
    let last = Self.success.count - 1
    let verdict = try await Tool.run(
      "verify-trace", input: log(Self.success) { $0 == last ? #","attributes":\#(attributes)"# : "" })
    #expect(verdict.status == 1 && verdict.errorText.contains("line \(last + 1)"), "\(verdict.errorText)")
    #expect(verdict.errorText.contains("attribute"))
    let early = try await Tool.run(
      "verify-trace", input: log(Self.success) { $0 == 1 ? #","attributes":{"a":1}"# : "" })
    #expect(early.status == 1 && early.errorText.contains("line 2"), "\(early.errorText)")
  }

  @Test func `the log of a run with failures is complete, on two loops`() async throws {
    let server = try LoopbackServer { request in ServerResponse(status: request.target.contains("bad") ? 500 : 200) }
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let path = folder.path("events.jsonl")
    let file = try folder.write(#"{"transport": {"loops": 2}}"#, to: "c.json")
    let input = (0..<300).map { index in
      switch index % 3 {
      case 0: #"{"url": "\#(server.baseURL)/good"}"#
      case 1: #"{"url": "\#(server.baseURL)/bad"}"#
      default: #"{"url": "http://127.0.0.1:1/"}"#
      }
    }.joined(separator: "\n")
    let run = try await Tool.run("run", "-q", "-c", file, "--events", path, input: input)
    #expect(run.status == 1)
    let outcomes = try lines(path).compactMap { $0["outcome"]?.string }
    #expect(outcomes.count { $0 == "succeeded" } == 100)
    #expect(outcomes.count { $0 == "failed" } == 200)
    let verdict = try await Tool.run("verify-trace", path, "--json")
    #expect(verdict.status == 0)
    let document = try #require(try verdict.documents.first)
    #expect(document["ok"]?.bool == true)
    #expect(document["transactions"]?.integer == 300)
  }

  @Test func `spans of a stage are in the log, and both checkers accept it`() async throws {
    let server = try LoopbackServer { request in
      request.target == "/a" ? ServerResponse(status: 302, headers: [HeaderLine("Location", "/b")]) : .text("ok")
    }
    defer { server.stop() }
    let plugin = try await PluginCompiler.compile("measures-itself")
    let folder = try TemporaryDirectory()
    let path = folder.path("events.jsonl")
    let file = try folder.write(
      """
      {"plugins": {"stage": {"library": "\(plugin.path)"}}, "request": ["stage"], "issue": ["stage"], "response": ["stage"]}
      """, to: "c.json")
    let sent = try await Tool.run("send", "-c", file, server.baseURL + "/a", "--events", path)
    #expect(sent.status == 0, "\(sent.errorText)")
    let spans = try lines(path).compactMap { $0["span"] }
    #expect(spans.map { $0["name"]?.string } == ["work", "issue", "issue", "full", "left open"])
    #expect(spans.map { $0["isUnfinished"]?.bool } == [false, false, false, false, true])
    let attributes: JSONValue = ["word": "REDACTED", "count": JSONValue(Int64.min), "part": 0.5, "yes": true]
    #expect(spans.first?["attributes"] == attributes)
    #expect(spans[3]["status"]?.string == "error" && spans[3]["droppedAttributes"]?.integer == 3)
    #expect(spans[3]["message"]?.string?.utf8.count == 1024)
    let verdict = try await Tool.run("verify-trace", path)
    #expect(verdict.status == 0, "\(verdict.errorText)")
    let text = try FileTree.readText(path).split(separator: "\n").map(String.init)
    #expect(EventLogAudit(lines: text).complaints == [])
    // Each checker refuses a repeated span, and a span that the schema forbids.
    let index = try #require(text.firstIndex { $0.contains("did_end_span") })
    let damages = [
      Array(text[...index]) + text[index...], text.map { $0.replacing(#""kind":"client""#, with: #""kind":"other""#) },
    ]
    for damage in damages {
      #expect(!EventLogAudit(lines: damage).complaints.isEmpty)
      #expect(try await Tool.run("verify-trace", input: damage.joined(separator: "\n") + "\n").status == 1)
    }
  }

  @Test func `--events - is accepted if the results are not written to standard output`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let sent = try await Tool.run("send", server.baseURL, "-o", "/dev/null", "--events", "-")
    #expect(try sent.documents.count == 9)
    let verdict = try await Tool.run("verify-trace", input: sent.outputText)
    #expect(verdict.status == 0)
    let refused = try await Tool.run("send", server.baseURL, "--events", "-")
    #expect(refused.status == 2)
    #expect(refused.errorText.contains("--events -"))
  }

  @Test func `an event log that cannot be written is reported, and the command fails`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let sent = try await Tool.run("send", server.baseURL, "--events", "/dev/full")
    #expect(sent.status == 23)
    #expect(sent.errorText.contains("/dev/full: No space left on device; the event log is incomplete"))
    let input = String(repeating: #"{"url": "\#(server.baseURL)/"}"# + "\n", count: 500)
    let run = try await Tool.run("run", "-q", "--events", "/dev/full", input: input)
    #expect(run.status == 1)
    #expect(run.errorText.contains("the event log is incomplete"))
    let nowhere = try await Tool.run("run", "--events", "/nonexistent/events")
    #expect(nowhere.status == 1)
    #expect(nowhere.errorText.contains("/nonexistent/events"))
  }

  @Test func `verify-trace names the first line that breaks a rule, and the status is 1`() async throws {
    let swapped = log(["will_execute", "did_configure", "did_receive", "did_issue"])
    let order = try await Tool.run("verify-trace", input: swapped)
    #expect(order.status == 1)
    #expect(
      order.errorText.contains("line 3: transaction 01234567-89ab-4def-8123-456789abcdef: did_receive out of order"))
    #expect(order.errorText.contains("expected did_issue"))
    let open = try await Tool.run("verify-trace", "--json", input: log(Self.success.dropLast()))
    #expect(open.status == 1)
    let violation = try #require(try open.documents.first?["violation"])
    #expect(violation["rule"]?.string == "balance")
    #expect(violation["line"]?.integer == 1)
    let late = try await Tool.run("verify-trace", input: log(Self.success + ["did_complete"]))
    #expect(late.errorText.contains("line 10"))
    #expect(late.errorText.contains("after the did_complete of line 9"))
  }

  @Test func `each line that is lost or repeated, and each status that is changed, is noticed`() async throws {
    let server = try LoopbackServer { request in
      request.target == "/a" ? ServerResponse(status: 302, headers: [HeaderLine("Location", "/b")]) : .text("there")
    }
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let path = folder.path("events.jsonl")
    let sent = try await Tool.run("send", server.baseURL + "/a", "--events", path)
    #expect(sent.status == 0)
    let lines = try FileTree.readText(path).split(separator: "\n").map(String.init)
    #expect(lines.count == 13)
    var logs: [[String]] = []
    for index in lines.indices {
      var (lost, repeated, changed) = (lines, lines, lines)
      lost.remove(at: index)
      repeated.insert(lines[index], at: index)
      logs += [lost, repeated]
      let parts = lines[index].split(separator: #""status":"#)
      guard parts.count == 2 else { continue }
      changed[index] = parts[0] + #""status":4"# + parts[1].dropFirst()
      logs.append(changed)
    }
    #expect(logs.count == 35)
    for log in logs {
      let verdict = try await Tool.run("verify-trace", input: log.map { $0 + "\n" }.joined())
      #expect(verdict.status == 1, "\(log)")
    }
  }

  @Test func `each event has its hop's place in a trace, and verify-trace compares the ids`()
    async throws
  {
    let server = try LoopbackServer { request in
      request.target == "/a" ? ServerResponse(status: 302, headers: [HeaderLine("Location", "/b")]) : .text("there")
    }
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let text = #"{"plugins": {"headers": {"builtin": "headers", "config": {"hosts": ["*"]}}}, "issue": ["headers"]}"#
    let (file, path) = (try folder.write(text, to: "c.json"), folder.path("events.jsonl"))
    let (trace, span) = ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331")
    let sent = try await Tool.run(
      "send", server.baseURL + "/a", "-c", file, "--events", path,
      environment: ["TRACEPARENT": "00-\(trace)-\(span)-01"])
    #expect(sent.status == 0)
    let events = try lines(path)
    #expect(events.count == 13)
    #expect(events.allSatisfy { $0["traceId"]?.string == trace && $0["parentSpanId"]?.string == span })
    let spans = server.requests.map { $0.headers.first("traceparent")?.split(separator: "-").dropFirst(2).first ?? "" }
    let shown = events.map { $0["spanId"]?.string ?? "none" }
    #expect(shown.prefix(2) == ["none", "none"])
    let ofHops = Array(repeating: String(spans[0]), count: 4) + Array(repeating: String(spans[1]), count: 7)
    #expect(Array(shown.dropFirst(2)) == ofHops)
    let whole = try FileTree.readText(path).split(separator: "\n").map(String.init)
    #expect(try await Tool.run("verify-trace", path).status == 0)
    for (index, old, new) in [
      (4, span, trace.prefix(16)), (6, String(spans[1]), spans[0]), (9, trace, "\(span)\(span)"),
    ] {
      var changed = whole
      changed[index] = whole[index].replacing(old, with: new)
      #expect(changed != whole)
      let verdict = try await Tool.run("verify-trace", "--json", input: changed.map { $0 + "\n" }.joined())
      #expect(verdict.status == 1)
      #expect(try verdict.documents.first?["violation"]?["rule"]?.string == "identity")
    }
  }

  @Test func `a status that a stage set is reported together with the received status`() async throws {
    let server = try LoopbackServer { _ in
      ServerResponse(status: 200, headers: [HeaderLine("Cache-Control", "max-age=600")])
    }
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let text = """
      {"plugins": {"cache": {"library": "\(BuiltProducts.library("cache"))"}},
       "request": ["cache"], "response": ["cache"]}
      """
    let (file, path) = (try folder.write(text, to: "c.json"), folder.path("events.jsonl"))
    let line = #"{"url": "\#(server.baseURL)/a"}"# + "\n"
    let run = try await Tool.run(
      "run", "-q", "-c", file, "--concurrency", "1", "--events", path, input: line + line)
    #expect(run.status == 0)
    let validated = try lines(path).filter { $0["event"]?.string == "did_validate_response" }
    #expect(validated.map { $0["status"]?.integer } == [200, 200])
    #expect(validated.map { $0["receivedStatus"]?.integer } == [nil, 0])
    let verdict = try await Tool.run("verify-trace", path)
    #expect(verdict.status == 0, "\(verdict.errorText)")
  }

  @Test(arguments: [
    ("garbage", "line 10: not JSON"), ("[]", "line 10: expected an object"), ("{}", "line 10: expected \"event\""),
    (#"{"event":"did_dance"}"#, "no event is named \"did_dance\""),
    (#"{"event":"did_issue","transaction":"x"}"#, "expected a UUID"),
    (#"{"event":"did_issue","event":"did_issue"}"#, "line 10: not JSON"),
    (#"{"event":"will_execute","transa"#, "line 10: the log is cut off in the middle of this line"),
    (#"{"event":"did_issue","transaction":"01234567-89ab-4def-8123-456789abcdef","timeNs":-1}"#, "\"timeNs\""),
    (whole(#""delayNs":1"#), "did_issue has \"delayNs\"; expected it only in will_retry"),
    (whole(#""durationNs":1"#), "did_issue has \"durationNs\"; expected it only in did_end_hop and did_complete"),
    (whole(#""sequence":-1"#), "\"sequence\""), (whole(#""receivedStatus":"200""#), "\"receivedStatus\""),
    (whole(#""status":0"#), "expected \"status\" with an integer from 100 to 999"),
    (whole(#""receivedStatus":1000"#), "expected \"receivedStatus\" with an integer from 0 to 999"),
    (whole(#""error":{"code":"c"}"#), "expected \"message\" with a string"),
    (whole(#""error":{"code":"c","message":"m","place":"p"}"#), "no event has \"place\""),
    (whole(#""traceId":"0123456789abcdef""#), "\"traceId\": expected 32 hexadecimal digits in lower case"),
    (whole(#""spanId":"0123456789ABCDEF""#), "\"spanId\": expected 16 hexadecimal digits in lower case"),
    (whole(#""parentSpanId":"0000000000000000""#), "\"parentSpanId\": expected 16 hexadecimal digits"),
    (whole(#""spanId":1"#), "expected \"spanId\" with a string"),
    (whole(#""stauts":200"#), "no event has \"stauts\""), (whole(#""timings":{\#(phases),"idleNs":1}"#), "\"idleNs\""),
    (whole(#""timings":{\#(phases),"isConnectionReused":1}"#), "\"isConnectionReused\" with true or false"),
  ])
  func `verify-trace reports an invalid event with its line`(_ line: String, _ message: String) async throws {
    let result = try await Tool.run("verify-trace", input: log(Self.success) + line)
    #expect(result.status == 1)
    #expect(result.errorText.contains(message), "\(result.errorText)")
  }

  private static let phases =
    #""queueNs":0,"dnsNs":0,"connectNs":0,"tlsNs":0,"sendNs":0,"waitNs":0,"receiveNs":0"#

  private static func whole(_ member: String) -> String {
    #"{"event":"did_issue","transaction":"01234567-89ab-4def-8123-456789abcdef","timeNs":1,"attempt":0,"hop":0,"#
      + #""requestId":"r","method":"GET","url":"http://h/",\#(member)}"#
  }

  @Test func `a missing event log is wrong usage of verify-trace`() async throws {
    let result = try await Tool.run("verify-trace", "/nonexistent")
    #expect(result.status == 2)
    #expect(result.errorText.contains("/nonexistent"))
  }

  @Test func `verify-trace checks several logs, and those of a folder, each by itself`() async throws {
    let folder = try TemporaryDirectory()
    let good = try folder.write(log(Self.success), to: "events-1.jsonl")
    let bad = try folder.write(log(Self.success.dropLast()), to: "events-2.jsonl")
    try folder.write("no log", to: "notes.txt")
    for operands in [[good, bad], [folder.path]] {
      let result = try await Tool.run(arguments: ["verify-trace"] + operands)
      #expect(result.status == 1 && result.outputText.hasPrefix("\(good): "), "\(result.outputText)")
      #expect(result.errorText.contains("\(bad): line "), "\(result.errorText)")
    }
    let documents = try await Tool.run("verify-trace", "--json", folder.path).documents
    #expect(documents.map { $0["file"]?.string } == [good, bad] && documents.map { $0["ok"]?.bool } == [true, false])
    #expect(try await Tool.run("verify-trace", good, good).status == 0)
    mkdir(folder.path("empty"), 0o755)
    let empty = try await Tool.run("verify-trace", folder.path("empty"))
    #expect(empty.status == 2 && empty.errorText.contains("no file with a name that ends in"), "\(empty.errorText)")
  }

  @Test func `an empty log breaks no rule`() async throws {
    let result = try await Tool.run("verify-trace", input: "")
    #expect(result.status == 0)
  }

  @Test func `with --metadata, a result has the request as given and as sent, with secrets hidden`() async throws {
    let server = try LoopbackServer { _ in ServerResponse.text("x", type: "text/plain; charset=utf-8") }
    defer { server.stop() }
    let sent = try await Tool.run(
      "send", server.baseURL + "/a", "-H", "Authorization: Bearer s3cret", "-H", "x-a: 1", "--document", "--metadata")
    let metadata = try #require(try sent.documents.first?["metadata"])
    #expect(metadata["original"]?["method"]?.string == "GET")
    #expect(metadata["issued"]?["headers"]?["authorization"]?.string == "REDACTED")
    #expect(metadata["issued"]?["headers"]?["x-a"]?.string == "1")
    #expect(metadata["finalUrl"]?.string == server.baseURL + "/a")
    #expect(metadata["httpVersion"]?.string == "1.1")
    #expect(metadata["mimeType"]?.string == "text/plain")
    #expect(metadata["encoding"]?.string == "utf-8")
    #expect(metadata["timings"]?["bytesReceived"]?.integer == 1)
  }

  @Test func `metadata has fewer members if a transaction fails at DNS, the connection or the response`()
    async throws
  {
    let silent = try ScriptedServer(.receiveHead, .reset)
    let bare = try LoopbackServer { _ in ServerResponse(status: 204) }
    defer { bare.stop() }
    let urls = ["http://no-such-host.invalid/a", "http://127.0.0.1:1/b", silent.baseURL + "/c", bare.baseURL + "/d"]
    let members = ["original", "timings", "issued", "finalUrl", "httpVersion"]
    let expected: [(code: String?, members: ArraySlice<String>)] = [
      ("dns", members.prefix(2)), ("connect", members.prefix(2)), ("connection_lost", members.prefix(4)),
      (nil, members.prefix(5)),
    ]
    let input = urls.enumerated().map { #"{"id": \#($0.offset), "url": "\#($0.element)"}"# + "\n" }.joined()
    let run = try await Tool.run("run", "-q", "--metadata", input: input)
    let ran = try run.documents.sorted { ($0["id"]?.integer ?? 0) < ($1["id"]?.integer ?? 0) }
    #expect(ran.count == urls.count)
    for (index, url) in urls.enumerated() {
      let sent = try await Tool.run("send", url, "--document", "--metadata")
      #expect((sent.status == 0) == (expected[index].code == nil))
      for document in [try #require(try sent.documents.first), ran[index]] {
        #expect(document.errorCode == expected[index].code, "\(url)")
        let metadata = try #require(document["metadata"])
        #expect(Set(metadata.members.map(\.key)) == Set(expected[index].members), "\(url): \(metadata)")
        #expect(metadata["original"]?["url"]?.string == url)
      }
      let plain = try await Tool.run("send", url, "--document")
      #expect(try plain.documents.first?["metadata"] == nil)
    }
  }
}
