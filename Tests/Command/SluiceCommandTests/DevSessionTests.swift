import Glibc
import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// `sluice dev`: its configuration, its traffic, and how a session ends.
@Suite struct DevSessionTests {
  @Test func `an invalid configuration is refused with a message, and the corrected one is used`() async throws {
    let (run, _) = try await DevRun.stamped()
    try await run.start()
    try run.folder.write(#"{"plugin": 1}"#, to: "c.json")
    let refused = try await run.next("refused")
    #expect(refused["subject"]?.string == "configuration")
    #expect(refused["reason"]?.string?.contains("c.json:1: plugin: unknown key") == true, "\(refused)")
    #expect(try await run.request()["status"]?.integer == 200)
    let url = run.server.baseURL
    try run.folder.write(
      DevRun.configuration(url, plugin: #""library": "a.so", "config": {"header": "x-b"}"#), to: "c.json")
    let reloaded = try await run.next("reloaded")
    #expect(reloaded["report"]?["trigger"]?.string == "reload", "\(reloaded)")
    #expect(try await run.request()["status"]?.integer == 200)
    try await run.end()
  }

  @Test func `if a key that is read only at the start changes, the engine restarts, and the event names the key`()
    async throws
  {
    let (run, library) = try await DevRun.stamped("--listen", "0")
    let address = try await run.start()
    try library.install(2, at: run.library)
    try await run.next("swapped")
    try run.folder.write(DevRun.configuration(run.server.baseURL, transport: #", "loops": 2"#), to: "c.json")
    let restarted = try await run.next("restarted")
    #expect(restarted["reason"]?.string?.contains("transport.loops") == true, "\(restarted)")
    #expect(try await run.stamp(at: address) == "2", "the endpoint and the build are the same as before")
    try await run.end()
  }

  @Test func `if a configuration is saved while the engine starts, it is used after the start`()
    async throws
  {
    let plugin = #"""
      "library": "a.so", "build": {"command": ["true"], "sources": ["source"]}, "config": {"header":
      """#
    let run = try await DevRun(configuration: { DevRun.configuration($0, plugin: plugin + #" "x-a"}"#) }) { folder in
      try #require(mkfifo(folder.path("gate"), 0o600) == 0)
      let product = try await PluginCompiler.compile(
        "activates-behind-a-gate", defines: ["GATE=\"\(folder.path("gate"))\""])
      try withExtendedLifetime(product) {
        try StampedLibrary.install(FileTree.read(product.path), at: folder.path("a.so"))
      }
      try folder.write("one", to: "source")
    }
    try await run.next("building")
    try await run.next("log") { $0["message"]?.string == "waits=1" }
    try run.folder.write(DevRun.configuration(run.server.baseURL, plugin: plugin + #" "x-b"}"#), to: "c.json")
    // The build that this change starts shows that the configuration was read.
    try run.folder.write("two", to: "source")
    try await run.next("building")
    // The pipe is opened for both directions, so that opening it does not wait for the other end.
    let gate = FileDescriptor(adopting: open(run.folder.path("gate"), O_RDWR | O_CLOEXEC))
    try await run.start()
    let reloaded = try await run.next("reloaded")
    #expect(reloaded["report"]?["trigger"]?.string == "reload", "\(reloaded)")
    try await run.end()
    gate.close()
  }

  @Test func `after a failed start, dev waits for a correction`() async throws {
    let library = try await StampedLibrary.inC()
    let run = try await DevRun { folder in _ = folder }
    let waiting = try await run.next("waiting")
    #expect(waiting["reason"]?.string?.contains("a.so") == true, "\(waiting)")
    try library.install(1, at: run.library)
    try await run.next("started")
    #expect(try await run.request()["status"]?.integer == 200)
    try await run.end()
  }

  @Test func `recorded and typed requests are sent, and an invalid line is refused`() async throws {
    let library = try await StampedLibrary.inC()
    let run = try await DevRun(
      "-i", "/dev/stdin", prepare: { folder in try library.install(1, at: folder.path("a.so")) })
    try run.running.write(#"{"url": "/recorded", "method": "PUT"}"# + "\n\n")
    run.running.closeInput()
    let recorded = try await run.next("request")
    #expect(recorded["method"]?.string == "PUT" && recorded["path"]?.string == "/recorded", "\(recorded)")
    try await run.end()

    let (typed, _) = try await DevRun.stamped()
    try await typed.start()
    #expect(try await typed.request("POST /x?y=1")["method"]?.string == "POST")
    #expect(try await typed.request("a b c")["error"]?["code"]?.string == "invalid_request")
    #expect(
      try await typed.request(#"{"url": "/", "nothing": 1}"#)["error"]?["message"]?.string?.contains("nothing") == true)
    #expect(try await typed.request("\(typed.server.baseURL)/absolute")["path"]?.string == "/absolute")
    try await typed.end()
  }

  @Test func `an event has the id of the typed document, or the number of the line`() async throws {
    let (run, _) = try await DevRun.stamped()
    try await run.start()
    let cases: [(line: String, id: JSONValue)] = [
      ("/", 1), (#"{"id": "a-7", "url": "/"}"#, "a-7"), (#"{"id": 40, "url": "/"}"#, 40), ("/", 4),
      (#"{"id": "bad", "url": "/", "nothing": 1}"#, "bad"), (#"{"id": null, "url": "/"}"#, .null),
      (#"{"id": [1], "url": "/"}"#, 7),
    ]
    for (line, id) in cases {
      let event = try await run.request(line)
      #expect(event["id"] == id && event["givenId"] == nil, "\(event)")
    }
    try await run.end()
  }

  @Test func `the endpoint forwards requests, but is not an open proxy`() async throws {
    let (run, _) = try await DevRun.stamped("--listen", "127.0.0.1:0")
    let address = try await run.start()
    func status(_ arguments: String...) async throws -> String {
      try await Command.check("curl", ["-sS", "-o", "/dev/null", "-w", "%{http_code}"] + arguments).outputText
    }
    #expect(try await status("-X", "PATCH", "-d", "body", "http://\(address)/a?b=c") == "200")
    let event = try await run.next("request")
    #expect(event["method"]?.string == "PATCH" && event["path"]?.string == "/a?b=c", "\(event)")
    #expect(try await status("-x", "http://\(address)", "http://elsewhere.example/") == "421")
    #expect(try await status("-H", "Host: attacker.example", "http://\(address)/") == "421")
    try await run.end()
  }

  @Test func `wrong usage is reported, and ends with status 2`() async throws {
    #expect(try await Tool.run("dev").status == 2)
    #expect(try await Tool.run("dev", "-c", "/nowhere.json").status == 2)
    let folder = try TemporaryDirectory()
    let file = try folder.write("{}", to: "c.json")
    #expect(try await Tool.run("dev", "-c", file, "--listen", "x").status == 2)
    #expect(try await Tool.run("dev", "-c", file, "-i", "/nowhere").status == 2)
  }

  @Test func `if the supervisor dies, the engine and its trials end`() async throws {
    let (run, _) = try await DevRun.stamped()
    let process = try #require(try await run.next("started")["process"]?.integer)
    try #require(kill(pid_t(process), 0) == 0)
    run.running.send(signal: SIGKILL)
    _ = try await run.running.wait(upTo: Patience.limit)
    #expect(try await eventually { kill(pid_t(process), 0) != 0 })
  }

  @Test func `a closed standard output ends dev with status 141`() async throws {
    let library = try await StampedLibrary.inC()
    let folder = try TemporaryDirectory()
    try library.install(1, at: folder.path("a.so"))
    let file = try folder.write(DevRun.configuration("http://127.0.0.1:9"), to: "c.json")
    let result = try await Command.run(
      "bash", ["-c", "set -o pipefail; '\(Tool.path)' dev --json -c '\(file)' </dev/null | head -c 1 >/dev/null"],
      environment: Tool.cleared, limit: Patience.limit)
    #expect(result.status == 141, "\(result.errorText)")
  }
}
