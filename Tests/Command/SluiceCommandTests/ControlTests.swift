import Glibc
import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// The real `sluice ctl` against a real `sluice run`, over a real socket.
@Suite struct ControlTests {
  @Test func `a rebuilt library is swapped while requests flow, and none fails`() async throws {
    let run = try await ControlledRun()
    let before = try await run.status()
    #expect(before["generations"]?.elements.map { $0["state"]?.string } == ["active"], "\(before)")
    let flow = run.flow()
    try await run.waitForMore(50)
    try run.library.install(2, at: run.folder.path("a.so"))
    let swap = try await run.ctl("swap", "a")
    #expect(swap.status == 0 && swap.outputText.hasPrefix("swap 1: published as snapshot 2 (\"a\" "), "\(swap)")
    try await run.waitForMore(50)
    let after = try await run.status()
    run.stopFlow()
    let count = try await flow.value
    let result = try await run.end()
    #expect(result.status == 0, "\(result.errorText)")
    let documents = try result.documents
    #expect(documents.count == count && documents.allSatisfy { $0.status == 200 })
    let stamps = documents.map(\.stamp)
    #expect(Set(stamps) == [1, 2], "both builds served, and no other stamp was seen")

    #expect(after["snapshot"]?.integer == 2)
    let generations = try #require(after["generations"]).elements.map { $0 }
    #expect(generations.map { $0["state"]?.string } == ["standby", "probation"])
    #expect(generations.map { $0["pluginId"]?.string } == ["stamps-generation", "stamps-generation"])
    #expect(generations.map { $0["plugins"]?[0]?.string } == ["a", "a"])
    #expect(generations.allSatisfy { $0["hash"]?.string?.count == 64 && $0["version"]?.string == "1.0.0" })
    #expect(generations.first?["hash"] != generations.last?["hash"])
    let report = try #require(after["history"]?[0])
    #expect(report["outcome"]?.string == "published" && report["trigger"]?.string == "swap")
    #expect(report["at"]?.string?.hasSuffix("Z") == true && report["durationMs"]?.number ?? 0 > 0)
    #expect(report["changes"]?[0]?["old"]?["generation"]?.integer == 1)
    #expect(report["changes"]?[0]?["new"]?["generation"]?.integer == 2)
  }

  @Test func `rollback returns to the old build, and a swap without a change reports that nothing changed`()
    async throws
  {
    let run = try await ControlledRun()
    #expect(try await run.ctl("rollback").status == 1)
    let unchanged = try await run.ctl("swap")
    #expect(unchanged.status == 0 && unchanged.outputText.contains(": unchanged"), "\(unchanged)")
    try run.library.install(2, at: run.folder.path("a.so"))
    #expect(try await run.ctl("swap").status == 0)
    try await run.request()
    let back = try await run.ctl("rollback", "--json")
    let report = try #require(try back.documents.first, "\(back.errorText)")
    #expect(report["trigger"]?.string == "rollback" && report["outcome"]?.string == "published", "\(report)")
    #expect(report["snapshot"]?.integer == 1)
    try await run.request()
    #expect(try await run.end().documents.compactMap(\.stamp).sorted() == [1, 2])
  }

  @Test func `ctl canary --watch writes a text for each decision, until the canary has ended`() async throws {
    let run = try await ControlledRun()
    try await StampedLibrary.inC(.failsRequests).install(2, at: run.folder.path("a.so"))
    let swap = try await run.ctl("swap", "a", "--canary", "50", "--hold", "1h")
    #expect(
      swap.outputText.contains("; warning: keeps a state: during a canary, each of its builds has its own"), "\(swap)")
    let watch = try Tool.start("ctl", "canary", "--watch", "--socket", run.socket)
    try await watch.waitForOutput(containing: "the arms are compared next at 100 requests of the candidate")
    let flow = run.flow()
    let result = try await watch.wait(upTo: Patience.limit)
    run.stopFlow()
    _ = try await flow.value
    #expect(result.status == 1 && result.errorText.isEmpty, "\(result)")
    let text = result.outputText
    #expect(text.ranges(of: "canary: snapshot 2 serves 50 %, step 1 of 1").count == 1, "\(text)")
    #expect(text.ranges(of: "no canary is running; the last decision:\n").count == 1, "\(text)")
    #expect(text.contains(": returned to snapshot 1 (") && text.contains(": failed "), "\(text)")
    let wrong = try await run.ctl("canary", "--watch", "--json")
    #expect(wrong.status == 2 && wrong.errorText == "sluice: ctl canary: --watch writes text; leave out --json\n")
    // This canary had ended before.
    #expect(try await run.ctl("canary", "--watch").status == 1)
    _ = try await run.end()
  }

  @Test func `a build that differs is ended in its shadow, which the command shows`() async throws {
    let run = try await ControlledRun(isInFolder: true)
    try run.library.install(2, at: run.folder.path("a.so"))
    let swap = try await run.ctl("swap", "a", "--shadow", "1h", "--share", "100%", "--canary", "50")
    #expect(swap.outputText.hasPrefix("swap 1: snapshot 2 is in its shadow (\"a\" "), "\(swap)")
    let shown = try await run.ctl("canary")
    #expect(shown.outputText.hasPrefix("canary: snapshot 2 is in its shadow, for "), "\(shown)")
    #expect(
      shown.outputText.contains(
        "\n100 % of the new requests are sampled; 1 or more different samples would end the canary\n"), "\(shown)")
    let document = try #require(try await run.ctl("canary", "--json").documents.first?["canary"])
    #expect(
      document["step"] == 0 && document["percent"]?.number == 0 && document["shadow"]?["percent"]?.number == 100,
      "\(document)")
    #expect(document["holdMs"]?.number == 3_600_000 && document["steps"]?.count == 1)
    let watch = try Tool.start("ctl", "canary", "--watch", "--socket", run.socket)
    let flow = run.flow()
    let result = try await watch.wait(upTo: Patience.limit)
    run.stopFlow()
    _ = try await flow.value
    #expect(result.status == 1 && result.outputText.contains(" samples, for instance GET http://"), "\(result)")
    let ended = try await run.end()
    #expect(ended.errorText.contains("shadow: "), "\(ended)")
    #expect(ended.errorText.contains("; samples of its shadow: 0 same, "))
  }

  @Test func `a canary is begun, shown, promoted and ended by command`() async throws {
    let run = try await ControlledRun()
    try run.library.install(2, at: run.folder.path("a.so"))
    let swap = try await run.ctl("swap", "a", "--canary", "20.5,50", "--hold", "1h", "--by", "x-user")
    #expect(swap.outputText.hasPrefix("swap 1: snapshot 2 serves 20.5 % (\"a\" "), "\(swap)")
    let flow = run.flow()
    try await run.waitForMore(50)
    let shown = try await run.ctl("canary")
    #expect(shown.outputText.hasPrefix("canary: snapshot 2 serves 20.5 %, step 1 of 2, for "), "\(shown)")
    #expect(try await run.ctl("status").outputText.contains("\ncanary: snapshot 2 serves 20.5 %"))
    let document = try #require(try await run.ctl("canary", "--json").documents.first)
    #expect(document["canary"]?["by"]?["header"] == "x-user" && document["canary"]?["holdMs"]?.number == 3_600_000)
    let counts = ["candidate", "control"].map { document["canary"]?[$0]?["transactions"]?.integer ?? -1 }
    #expect(counts.allSatisfy { $0 > 0 } && document["history"]?.count == 1, "\(document)")
    let promotion = try await run.ctl("promote")
    #expect(promotion.outputText.hasPrefix("canary 2: published as snapshot 2 (\"a\" "), "\(promotion)")
    try run.library.install(3, at: run.folder.path("a.so"))
    #expect(try await run.ctl("swap", "--canary", "50").status == 0)
    let end = try await run.ctl("abort")
    #expect(end.outputText.hasPrefix("canary 4: returned to snapshot 2 (\"a\" "), "\(end)")
    #expect(try await run.ctl("canary").outputText.hasPrefix("no canary is running; the last decision:\n"))
    for command in ["promote", "abort"] {
      let refused = try await run.ctl(command)
      #expect(refused.status == 1 && refused.errorText.contains("refused: no canary is running"), "\(refused)")
    }
    run.stopFlow()
    _ = try await flow.value
    let documents = try await run.end().documents
    #expect(documents.allSatisfy { $0.status == 200 } && Set(documents.map(\.stamp)).isSubset(of: [1, 2, 3]))
  }

  @Test func `a swap that waits for a canary says so`() async throws {
    let run = try await ControlledRun()
    try run.library.install(2, at: run.folder.path("a.so"))
    let first = try await run.ctl("swap", "--canary", "50", "--hold", "1h")
    #expect(first.status == 0 && first.errorText.isEmpty, "\(first)")
    try run.library.install(3, at: run.folder.path("a.so"))
    let waiting = try Tool.start("ctl", "swap", "--socket", run.socket)
    try await waiting.waitForError(
      containing: "the swap waits until the canary has ended; --now would end it (canary: snapshot 2")
    let now = try await run.ctl("swap", "--now")
    #expect(now.errorText.isEmpty && now.outputText.contains(": published as snapshot 3 "), "\(now)")
    _ = try await waiting.wait()
    _ = try await run.end()
  }

  @Test func `with a canary in the configuration, a swap begins one unless it is to be published now`() async throws {
    let run = try await ControlledRun(swap: #"{"canary": {"steps": [50], "hold": "1h"}}"#)
    try run.library.install(2, at: run.folder.path("a.so"))
    #expect(try await run.ctl("swap").outputText.hasPrefix("swap 1: snapshot 2 serves 50 % "))
    #expect(try await run.ctl("rollback").status == 0)
    #expect(try await run.ctl("swap", "--now").outputText.hasPrefix("swap 3: published as snapshot 3 "))
    _ = try await run.end()
  }

  @Test(arguments: [
    (["--canary", "1,x"], "--canary expects shares in percent such as 1,10,50, not \"1,x\""),
    (["--canary", ""], "--canary expects shares in percent such as 1,10,50, not \"\""),
    (["--canary", "50%,10%"], "canary.steps[1]: expected more than the step before, found 10.0"),
    (["--canary", "100"], "canary.steps[0]: expected a number from 0.001 to 99.999, found 100.0"),
    (["--by", "a b"], "canary.by.header: expected the name of a header"),
    (["--now", "--hold", "1m"], "--now publishes at once; leave out --hold"),
    (["--now", "--shadow", "1m", "--share", "1"], "--now publishes at once; leave out --shadow and --share"),
    (["--shadow", "long"], "--shadow"),
    (["--shadow", "1m", "--share", "half"], "--share expects a percentage such as 1 or 0.5%, not \"half\""),
    (["--shadow", "1m", "--share", "101%"], "shadow.share: expected a number from 0.001 to 100"),
  ])
  func `a canary that cannot be begun is refused`(_ arguments: [String], _ message: String) async throws {
    let run = try await ControlledRun()
    let result = try await Command.run(
      Tool.path, ["ctl", "swap", "--socket", run.socket] + arguments, environment: Tool.cleared)
    #expect(result.status == 2 && result.errorText.contains(message), "\(result)")
    _ = try await run.end()
  }

  @Test func `each swap and each rollback is one line of the log`() async throws {
    let run = try await ControlledRun()
    try run.library.install(2, at: run.folder.path("a.so"))
    #expect(try await run.ctl("swap").status == 0)
    #expect(try await run.ctl("rollback").status == 0)
    #expect(try await run.ctl("rollback").status == 1)
    let lines = try await run.end().errorText.split(separator: "\n").map(String.init)
    func count(_ words: String...) -> Int { lines.count { line in words.allSatisfy { line.contains($0) } } }
    #expect(count("sluice: info: ", "swap 1: published as snapshot 2 after ") == 1, "\(lines)")
    #expect(count("sluice: info: ", "rollback 2: published as snapshot 1 after ") == 1, "\(lines)")
    #expect(count("sluice: warning: ", "rollback 3: refused") == 1, "\(lines)")
  }

  @Test func `--log-format json prints every message as a document, and --log-level sets the lowest level`()
    async throws
  {
    let run = try await ControlledRun(options: ["--log-format", "json", "--log-level", "info"])
    try run.library.install(2, at: run.folder.path("a.so"))
    #expect(try await run.ctl("swap").status == 0)
    let text = try await run.end().errorText
    let documents = try text.split(separator: "\n").map { try JSONValue(parsing: $0.utf8) }
    for document in documents {
      #expect(document["time"]?.string?.hasSuffix("Z") == true && document["message"]?.string != nil, "\(document)")
      #expect(["info", "warning", "error"].contains(document["level"]?.string), "\(document)")
    }
    let swaps = documents.filter { $0["swap"] != nil }
    #expect(swaps.count == 1, "\(text)")
    #expect(swaps.first?["plugin"]?.string == "stamps-generation" && swaps.first?["stage"]?.string == "a")
    #expect(swaps.first?["generation"]?.integer == 2)
    #expect(swaps.first?["swap"]?["changes"]?[0]?["new"]?["generation"]?.integer == 2)
    let quiet = try await ControlledRun(options: ["--log-level", "error"])
    try quiet.library.install(2, at: quiet.folder.path("a.so"))
    #expect(try await quiet.ctl("swap").status == 0)
    #expect(try await quiet.end().errorText.isEmpty)
  }

  @Test func `a bad build is refused with the reason, and the old build continues to serve`() async throws {
    let run = try await ControlledRun()
    let bad = try await StampedLibrary.inC(.failsCreate)
    try bad.install(2, at: run.folder.path("a.so"))
    let swap = try await run.ctl("swap", "a")
    #expect(swap.status == 1 && swap.outputText.isEmpty)
    #expect(
      swap.errorText.contains("the moon is missing") && swap.errorText.contains("the running build stays in use"),
      "\(swap)")
    let document = try await run.ctl("swap", "a", "--json")
    #expect(document.status == 1)
    #expect(try document.documents.first?.errorCode == "refused")
    let unknown = try await run.ctl("swap", "nobody")
    #expect(unknown.status == 1 && unknown.errorText.contains("nobody"), "\(unknown)")
    let status = try await run.ctl("status")
    #expect(status.outputText.contains("the moon is missing"), "\(status.outputText)")
    try await run.request()
    #expect(try await run.end().documents.compactMap(\.stamp) == [1])
  }

  @Test func `the status shows what holds an old build, in tables without colour`() async throws {
    let run = try await ControlledRun(swap: #"{"probation": {"duration": "0s"}, "drain": "240s"}"#)
    run.server.hold()
    try run.running.write(#"{"url": "\#(run.server.baseURL)/"}"# + "\n")
    try await run.server.waitForHeld(1)
    try run.library.install(2, at: run.folder.path("a.so"))
    let swap = try await run.ctl("swap")
    #expect(swap.status == 0, "\(swap)")
    let text = try await run.ctl("status").outputText
    let rows = text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    let head = try #require(rows.first { $0.first == "generation" })
    let first = try #require(rows.first { $0.first == "1" && $0.dropFirst().first == "draining" }, "\(text)")
    #expect(first.count == head.count - 1, "\"build id\" is two words: \(text)")
    #expect(text.contains("\n  held by ") && !text.contains("\u{1B}"))
    #expect(rows.contains { $0.first == "2" && $0.dropFirst().first == "active" })
    run.server.release()
    #expect(try await run.end().documents.map(\.stamp) == [1])
  }

  @Test func `many idle clients use only few descriptors of the engine, and ctl still works`() async throws {
    let run = try await ControlledRun()
    try await run.request()
    #expect(try await run.status()["snapshot"]?.integer == 1)
    let facts = ProcessFacts(of: run.running.processID)
    let before = facts.openDescriptorCount
    let crowd = try (0..<500).map { _ in try StreamSocket.connect(unixSocket: run.socket) }
    #expect(try await run.status()["snapshot"]?.integer == 1, "while the idle clients are connected")
    // The engine keeps 64 idle connections, and the connection in use. It has closed all others.
    for client in crowd.dropLast(64) { #expect(try client.read().isEmpty) }
    #expect(facts.openDescriptorCount <= before + 64 + 16, "\(before)")
    try await run.request()
    for client in crowd { client.close() }
    let path = run.folder.path("a.so")
    try run.library.install(2, at: path)
    #expect(try await run.ctl("swap").status == 0)
    #expect(try await run.end().status == 0)
  }

  @Test func `ctl prints metrics as tables, as JSON and for Prometheus`() async throws {
    let run = try await ControlledRun()
    try await run.request()
    let json = try #require(try await run.ctl("metrics", "--json").documents.first)
    #expect(json["engine"]?["transactions"]?["begun"]?.integer == 1)
    #expect(json["plugins"]?["metrics"]?[0]?["name"]?.string == "calls")
    let text = try await run.ctl("metrics").outputText
    #expect(text.contains("\nrequest a") && text.contains("\nplugin metric") && text.contains("\na calls"), "\(text)")
    let prometheus = try await run.ctl("metrics", "--prometheus").outputText
    #expect(prometheus.contains("\na_calls_total 1"), "\(prometheus)")
    #expect(prometheus.contains("\nsluice_engine_active_transactions "))
    _ = try await run.end()
  }

  @Test func `OTEL_SERVICE_NAME is the program's name in metrics if the configuration sets none`() async throws {
    let run = try await ControlledRun(environment: ["OTEL_SERVICE_NAME": " shop "])
    #expect(try await run.ctl("metrics", "--json").documents.first?["resource"]?["service.name"]?.string == "shop")
    let prometheus = try await run.ctl("metrics", "--prometheus").outputText
    #expect(prometheus.contains("\ntarget_info{service_name=\"shop\"} 1\n"), "\(prometheus)")
    _ = try await run.end()
  }

  @Test func `ctl notify reports whether a plugin took the notification, failed, or passed it on`() async throws {
    let worker = try await PluginCompiler.compile("handles-work")
    chmod(worker.path, 0o755)
    let run = try await ControlledRun(more: #", "w": {"library": "\#(worker.path)"}"#)
    let taken = try await run.ctl("notify", "take", #"{"version": 7, "immediate": true}"#)
    #expect(taken.status == 0)
    #expect(taken.outputText.hasPrefix("new-data: taken by \"w\" (handles-work, generation 2), "), "\(taken)")
    #expect(try await run.ctl("notify", "nothing").status == 0)
    let failed = try await run.ctl("notify", "fail")
    #expect(failed.status == 1 && failed.outputText.hasPrefix("failed: "), "\(failed)")
    let passed = try await run.ctl("notify", "pass")
    #expect(passed.status == 1 && passed.outputText.hasPrefix("no plugin took it"), "\(passed)")
    let late = try await run.ctl("notify", "keep", "--deadline", "50ms", "--json")
    #expect(late.status == 1)
    #expect(try late.documents.first?["outcome"]?.string == "missed-deadline")
    #expect(try await run.ctl("notify", "take", "{").status == 2)
    let result = try await run.end()
    #expect(
      result.errorText.contains("payload=") || result.errorText.contains("notified-take=0"), "\(result.errorText)")
  }

  @Test func `SIGHUP reloads the configuration, or the log says why it cannot`() async throws {
    let run = try await ControlledRun()
    try run.folder.write(ControlledRun.configuration(header: "x-other"), to: "c.json")
    run.running.send(signal: SIGHUP)
    try await run.running.waitForError(containing: "published as snapshot 2")
    try run.folder.write("{\"plugin\": 1}", to: "c.json")
    run.running.send(signal: SIGHUP)
    try await run.running.waitForError(containing: "unknown key \"plugin\"")
    try run.folder.write(#"{"transport": {"loops": 3}}"#, to: "c.json")
    run.running.send(signal: SIGHUP)
    try await run.running.waitForError(containing: "transport.loops")
    try await run.request()
    let result = try await run.end()
    #expect(result.status == 0, "\(result.errorText)")
    let headers = try #require(try result.documents.first?["response"]?["headers"])
    #expect(headers["x-other"]?.string == "1" && headers["x-stamp-a"] == nil)
  }

  @Test func `ctl swap -c publishes the configuration at this path`() async throws {
    let run = try await ControlledRun()
    let file = try run.folder.write(ControlledRun.configuration(header: "x-other"), to: "other.json")
    let swap = try await run.ctl("swap", "-c", file)
    #expect(swap.status == 0 && swap.outputText.hasPrefix("reload 1: published as snapshot 2"), "\(swap)")
    #expect(try await run.ctl("swap", "-c", run.folder.path("none.json")).status == 2)
    #expect(try await run.ctl("swap", "a", "-c", file).status == 2)
    let broken = try run.folder.write("{", to: "broken.json")
    #expect(try await run.ctl("swap", "-c", broken).status == 2)
    _ = try await run.end()
  }
}
