import Glibc
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// What `sluice attach` does before, during and after the run of the program.
@Suite(.enabled(if: !Sanitizer.isOn)) struct AttachTests {
  private let curl = CurlCommand.path ?? "curl"
  private let python = "/usr/bin/python3"

  // MARK: The end of the program

  @Test(arguments: [("exit 0", 0), ("exit 42", 42)])
  func `the exit status is the program's`(script: String, status: Int32) async throws {
    let result = try await AttachFixture().attach(["sh", "-c", script])
    #expect(result.ending == .exited(status))
    #expect(result.errorText == "")
  }

  @Test func `attach ends with status 127 if the program is not found, and with status 126 if it cannot be run`()
    async throws
  {
    let fixture = try AttachFixture()
    let missing = try await fixture.attach(["no-such-program"])
    #expect(missing.status == 127)
    #expect(missing.errorText == "sluice: attach: no-such-program: no such program on PATH\n")
    let file = try fixture.folder.write("text", to: "text")
    let unusable = try await fixture.attach([file])
    #expect(unusable.status == 126)
    #expect(unusable.errorText == "sluice: attach: \(file): Permission denied\n")
  }

  @Test func `if the interpreter of a script is missing, the error does not say that the script is missing`()
    async throws
  {
    let fixture = try AttachFixture()
    let file = try fixture.folder.write("#!/no/such\n", to: "script")
    try #require(chmod(file, 0o700) == 0)
    let result = try await fixture.attach([file])
    #expect(result.status == 127)
    let reason = "the interpreter of this script, or the loader of this program, does not exist"
    #expect(result.errorText == "sluice: attach: \(file): \(reason)\n")
  }

  @Test func `the exit status is the program's even if nobody reads standard error`() async throws {
    let fixture = try AttachFixture()
    let place = try fixture.folder.makeFolder("runtime")
    let script = """
      import os, subprocess, sys
      reading, writing = os.pipe()
      os.close(reading)
      print(subprocess.run(sys.argv[1:], stderr=writing).returncode)
      """
    let words = [Tool.path, "attach", "-c", fixture.configuration, "--explain", "--", "sh", "-c", "exit 4"]
    let result = try await fixture.run([python, "-c", script] + words, environment: ["XDG_RUNTIME_DIR": place])
    #expect(result.outputText == "4\n")
    #expect(FileTree.names(in: place) == [])
  }

  @Test func `a script without a line for its interpreter is read by the shell, as execvp does`() async throws {
    let fixture = try AttachFixture()
    let file = try fixture.folder.write("echo \"$0 $# $1\"\nexit 4\n", to: "script")
    try #require(chmod(file, 0o700) == 0)
    let result = try await fixture.attach([file, "a b", "c"])
    #expect(result.outputText == "\(file) 2 a b\n")
    #expect(result.ending == .exited(4))
    let path = "\(fixture.folder.path):/usr/bin:/bin"
    let found = try await fixture.attach(["script"], environment: ["PATH": path])
    #expect(found.outputText == "\(file) 0 \n")
    #expect(found.ending == .exited(4))
  }

  @Test(arguments: [SIGTERM, SIGINT, SIGHUP, SIGUSR1])
  func `a signal to the command reaches the program`(signal: Int32) async throws {
    let fixture = try AttachFixture()
    let script = """
      import signal, sys
      signal.pthread_sigmask(signal.SIG_BLOCK, [\(signal)])
      print('ready', flush=True)
      signal.sigwait([\(signal)])
      sys.exit(7)
      """
    let running = try Command(
      Tool.path, ["attach", "-c", fixture.configuration, "--", python, "-c", script], environment: Tool.cleared
    ).start()
    try await running.waitForOutput(containing: "ready")
    running.send(signal: signal)
    #expect(try await running.wait(upTo: Patience.limit).ending == .exited(7))
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGKILL, SIGSEGV])
  func `a signal that ends the program also ends the command`(signal: Int32) async throws {
    let fixture = try AttachFixture()
    let place = try fixture.folder.makeFolder("runtime")
    let result = try await fixture.attach(
      ["sh", "-c", "kill -\(signal) $$"], environment: ["XDG_RUNTIME_DIR": place])
    #expect(result.ending == .signalled(signal))
    #expect(result.errorText == "")
    #expect(FileTree.names(in: place).isEmpty)
  }

  // MARK: What the program inherits

  @Test func `the standard streams of the program carry any bytes`() async throws {
    let fixture = try AttachFixture()
    let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7 / 3) }
    let result = try await fixture.attach(["sh", "-c", "tee /dev/stderr"], input: bytes)
    #expect(result.standardOutput == bytes)
    #expect(result.standardError == bytes)
  }

  @Test(arguments: [
    "ls -l /proc/self/fd/1 >&- 2>/dev/null; echo $?", "trap '' PIPE; grep SigIgn /proc/self/status",
    "grep SigBlk /proc/self/status",
  ])
  func `a closed stream stays closed, and ignored signals stay ignored`(_ script: String) async throws {
    let fixture = try AttachFixture()
    let attach = "\(Tool.path) attach -c \(fixture.configuration) --"
    // The command wraps only the program, so that the shell's own part is the same in both runs.
    let words = script.split(separator: ";", maxSplits: 1).map(String.init)
    let (plain, attached) =
      words.count == 2 && words[0].hasPrefix("trap")
      ? (script, "\(words[0]); \(attach)\(words[1])")
      : (script, "\(attach) \(script)")
    let one = try await fixture.run(["sh", "-c", plain])
    let other = try await fixture.run(["sh", "-c", attached])
    #expect(Self.signals(one.outputText) == Self.signals(other.outputText))
  }

  /// Removes from a mask the two signals that glibc reserves for itself. Glibc ignores these signals in each program
  /// that it spawns.
  private static func signals(_ text: String) -> String {
    guard let digits = text.split(separator: "\t").last, text.hasPrefix("Sig"),
      let mask = UInt64(digits.trimmed, radix: 16)
    else { return text }
    return String(mask & ~(3 << 31), radix: 16)
  }

  @Test func `the program's arguments need not be UTF-8`() async throws {
    let fixture = try AttachFixture()
    let script = #"exec "$0" attach -c "$1" -- printf %s "$(printf '\377\376')" -- --explain ''"#
    let result = try await fixture.run(["sh", "-c", script, Tool.path, fixture.configuration])
    #expect(result.standardOutput == [0xFF, 0xFE] + Array("----explain".utf8))
  }

  @Test func `words after the program are its arguments, even without two dashes`() async throws {
    let fixture = try AttachFixture()
    let result = try await fixture.run([
      Tool.path, "attach", "-c", fixture.configuration, "printf", "%s,", "-c", "--explain", "--",
    ])
    #expect(result.outputText == "-c,--explain,--,")
    #expect(result.errorText == "")
  }

  @Test func `the only additional open descriptors in the program are the sealed plan and the page`() async throws {
    let fixture = try AttachFixture()
    let words = ["sh", "-c", "ls -l /proc/self/fd | grep -o '[0-9]* -> .*' | grep -v '^[012] '"]
    let plain = try await fixture.run(words).outputText.split(separator: "\n")
    let attached = try await fixture.attach(words).outputText.split(separator: "\n")
    #expect(attached.count == plain.count + 2)
    #expect(attached.contains { $0.contains("sluice-plan") })
    #expect(attached.contains { $0.contains("/sluice-attach-") && $0.hasSuffix("/page") })
  }

  private static let counter = """
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <unistd.h>
    int curl_easy_perform(void *handle) {
      (void)!write(1, "before\\n", 7);
      return ((int (*)(void *))dlsym(RTLD_NEXT, "curl_easy_perform"))(handle);
    }
    """

  @Test func `a library that the caller preloads is kept, after the command's library`() async throws {
    let fixture = try AttachFixture()
    let other = try await PluginCompiler.compile(source: Self.counter, name: "counts-performs")
    let result = try await fixture.attach([curl, "-sS", fixture.url], environment: ["LD_PRELOAD": other.path])
    #expect(result.outputText == "before\nanswer to GET /\n")
    #expect(fixture.server.requests.each("x-c") == ["plugin"])
  }

  @Test func `the trace context of the environment is the parent of each span`() async throws {
    let fixture = try AttachFixture()
    let environment = ["TRACEPARENT": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "TRACESTATE": "a=b"]
    let requests = try await fixture.compare(
      [curl, "-sS", "\(fixture.url)/1", "\(fixture.url)/2"], environment: environment)
    #expect(Set(requests.traceIDs.map(\.trace)) == ["0af7651916cd43dd8448eb211c80319c"])
    #expect(Set(requests.traceIDs.map(\.span)).union(["b7ad6b7169203331"]).count == 3)
    #expect(requests.each("tracestate") == ["a=b", "a=b"])
  }

  @Test(arguments: [("1", nil), ("0", "plugin"), ("", "plugin")])
  func `SLUICE_DISABLE switches the pipeline off`(value: String, header: String?) async throws {
    let fixture = try AttachFixture()
    let result = try await fixture.attach([curl, "-sS", fixture.url], environment: ["SLUICE_DISABLE": value])
    #expect(result.outputText == "answer to GET /\n")
    #expect(result.errorText == "")
    #expect(fixture.server.requests.each("x-c") == [header])
  }

  // MARK: The configuration

  @Test(arguments: [
    (2, #"{"response": ["r"], "plugins": {"r": {"builtin": "headers"}}}"#, "response stages are not called"),
    (2, #"{"no-such-key": 1}"#, "no-such-key"),
    (2, #"{"attach": {"onMissing": "wait"}}"#, "onMissing"),
    (2, #"{"attach": {"response": "wrap"}}"#, #"expected "direct" or "staged""#),
    (
      3, #"{"request": ["e"], "plugins": {"e": {"library": "{json-edit}", "config": {"request": []}}}}"#,
      "\"response_body\""
    ),
    (2, #"{"request": ["s"], "plugins": {"s": {"library": "{static-headers}", "config": {"request": 1}}}}"#, "\"s\""),
    (2, #"{"request": ["s"], "plugins": {"s": {"library": "nowhere.so"}}}"#, "nowhere.so"),
  ]) func `a configuration that cannot be used is refused before the program starts`(
    status: Int32, text: String, reason: String
  ) async throws {
    let fixture = try AttachFixture()
    let names = ["json-edit", "static-headers"]
    let whole = names.reduce(text) { $0.replacing("{\($1)}", with: BuiltProducts.library($1)) }
    let file = try fixture.folder.write(whole, to: "wrong.json")
    let result = try await Tool.run("attach", "-c", file, "--", "echo", "ran")
    #expect(result.status == status)
    #expect(result.outputText == "")
    #expect(result.errorText.contains(reason), "\(result.errorText)")
    #expect(result.errorText.hasPrefix("sluice: "))
  }

  @Test func `configuration keys without an effect under attach are named once, before the program starts`()
    async throws
  {
    let text = #"""
      {
        "transport": {"baseURL": "http://127.0.0.1", "timeout": "5s", "tls": {"verify": false}},
        "retry": {"maxAttempts": 2}, "redact": {"query": ["a"]}, "swap": {"trial": "5s"}, "watchdog": null,
        "deadline": "9s"
      }
      """#
    let fixture = try AttachFixture()
    let file = try fixture.folder.write(text, to: "run.json")
    let words = ["attach", "-c", file, "--", "sh", "-c", "echo end >&2"]
    let result = try await Tool.run(arguments: words)
    let keys = "transport.timeout, transport.tls, retry, deadline"
    #expect(result.errorText == "sluice: \(file): attach: these keys have no effect in a program: \(keys)\nend\n")
    #expect(try await Tool.run(arguments: ["attach", "-q"] + words.dropFirst()).errorText == "end\n")
  }

  @Test func `transport settings that apply to call-outs of plugins have an effect under attach`() async throws {
    let fixture = try AttachFixture()
    let plugin = "{\"library\": \"\(BuiltProducts.library("static-headers"))\"}"
    let transport = #"{"tls": {"verify": false}, "userAgent": "mine", "timeout": "1s"}"#
    let file = try fixture.folder.write(
      "{\"plugins\": {\"p\": \(plugin)}, \"transport\": \(transport)}", to: "run.json")
    let result = try await Tool.run("attach", "-c", file, "--", "true")
    #expect(
      result.errorText.contains("this key has no effect in a program: transport.timeout\n"), "\(result.errorText)")
  }

  @Test(arguments: ["deadline", "retry", "redirects", "validate", "control", "watchdog", "swap", "transport"])
  func `each configuration key without an effect under attach is named`(key: String) async throws {
    let values = [
      "deadline": #""1s""#, "control": "true", "swap": #"{"drain": "1s"}"#, "transport": #"{"timeout": "1s"}"#,
      "watchdog": #"{"limit": "1s"}"#,
    ]
    let fixture = try AttachFixture()
    let file = try fixture.folder.write("{\"\(key)\": \(values[key] ?? "{}")}", to: "run.json")
    let result = try await Tool.run("attach", "-c", file, "--", "true")
    #expect(result.errorText.contains("this key has no effect in a program: \(key)"), "\(result.errorText)")
    #expect(result.status == 0)
  }

  @Test(arguments: ["c.json", "./c.json", "inner/../c.json"])
  func `paths in a configuration are relative to its folder, even if its own path is relative`(
    path: String
  ) async throws {
    let fixture = try AttachFixture()
    try fixture.folder.makeFolder("inner")
    let text = #"{"plugins": {"s": {"library": "./s.so", "config": {"request": {"X-C": "linked"}}}}, "request": ["s"]}"#
    try fixture.folder.write(text, to: "c.json")
    let script = "ln -s \(BuiltProducts.library("static-headers")) s.so; exec \(Tool.path) attach -c \(path) -- \"$@\""
    let result = try await fixture.run(["sh", "-c", script, "sh", curl, "-sS", fixture.url])
    #expect(result.errorText == "")
    #expect(fixture.server.requests.each("x-c") == ["linked"])
  }

  @Test func `attach without a program or without a configuration is refused`() async throws {
    let fixture = try AttachFixture()
    for words in [["attach", "-c", fixture.configuration], ["attach", "--", "true"], ["attach"]] {
      #expect(try await Tool.run(arguments: words).status == 2)
    }
  }

  @Test func `the plan contains references instead of secrets`() async throws {
    let token = #"{"token": {"env": "SECRET_TOKEN"}, "hosts": ["127.0.0.1"]}"#
    let fixture = try AttachFixture(
      more: #", "token": {"library": "\#(BuiltProducts.library("bearer-auth"))", "config": \#(token)}"#,
      stages: #""issue": ["token"]"#)
    let script = "cat $(echo $SLUICE_ATTACH | cut -d: -f3)/plan-1; \(curl) -sS \(fixture.url)"
    let result = try await fixture.attach(["sh", "-c", script], environment: ["SECRET_TOKEN": "s3cret"])
    #expect(result.outputText.contains("SECRET_TOKEN"))
    #expect(!result.outputText.contains("s3cret"))
    #expect(fixture.server.requests.each("authorization") == ["Bearer s3cret"])
  }

  // MARK: Files and messages

  @Test func `a run leaves no files, and other users cannot read its folder`() async throws {
    let fixture = try AttachFixture()
    let place = try fixture.folder.makeFolder("runtime")
    let result = try await fixture.attach(
      ["sh", "-c", "stat -c %a '\(place)'/*; \(curl) -sS \(fixture.url)"], options: ["--explain"],
      environment: ["XDG_RUNTIME_DIR": place])
    #expect(result.outputText == "700\nanswer to GET /\n")
    #expect(FileTree.names(in: place).isEmpty)
  }

  @Test func `at the end, --explain lists the headers that were sent, and why others were not`() async throws {
    let fixture = try AttachFixture()
    let result = try await fixture.attach(
      ["sh", "-c", "\(curl) -sS \(fixture.url); \(curl) -sS \(fixture.otherURL); echo end >&2"],
      options: ["--explain"])
    let lines = result.errorText.split(separator: "\n").map(String.init)
    #expect(lines.first == "end")
    #expect(lines.last == "sluice: attach: 2 transfers went through the pipeline")
    #expect(result.errorText.contains(/fixed +X-C +sent\n/))
    #expect(result.errorText.contains(/trace +traceparent +sent +00-/))
    #expect(result.errorText.contains(/trace +traceparent +host_not_listed/))
  }

  @Test func `each process writes its events to its own file`() async throws {
    let fixture = try AttachFixture()
    let script = "echo $$; exec \(curl) -sS -o /dev/null \(fixture.url)"
    let result = try await fixture.attach(
      ["sh", "-c", script], options: ["--events", fixture.folder.path("events")])
    let process = result.outputText.split(separator: "\n").first ?? ""
    #expect(FileTree.names(in: fixture.folder.path("events")) == ["events-\(process).jsonl"])
  }
}

extension Substring {
  fileprivate var trimmed: String { filter { !$0.isWhitespace } }
}
