import Glibc
import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// The command with the shipped plugins, and with libraries that are not plugins.
@Suite struct PluginTests {
  private static let bearer = BuiltProducts.library("bearer-auth")
  private static let editing = BuiltProducts.library("json-edit")

  @Test func `--plugin adds a plugin to each list for which it has a callback, with its configuration`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let result = try await Tool.run(
      "send", "--plugin", #"\#(Self.bearer)={"token": "t0k", "hosts": ["127.0.0.1"]}"#, server.baseURL)
    #expect(result.status == 0, "\(result.errorText)")
    #expect(server.requests.first?.headers.first("authorization") == "Bearer t0k")
  }

  @Test func `json-edit changes a small body from a file, and leaves the file alone`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let file = try folder.write(#"{"a": 1}"#, to: "body.json")
    let plugin = #"\#(Self.editing)={"request": [{"op": "set", "path": "/b", "value": 2, "create": true}]}"#
    let sent = try await Tool.run(
      "send", "--plugin", plugin, "-H", "content-type: application/json", "--data-binary", "@\(file)", server.baseURL)
    #expect(sent.status == 0, "\(sent.errorText)")
    let line: JSONValue = [
      "method": "POST", "url": JSONValue(server.baseURL), "headers": ["content-type": "application/json"],
      "body": ["file": JSONValue(file)],
    ]
    let ran = try await Tool.run("run", "-q", "--plugin", plugin, input: "\(line)\n")
    #expect(ran.status == 0, "\(ran.outputText)")
    for request in server.requests { #expect(try JSONValue(parsing: request.body) == ["a": 1, "b": 2]) }
    #expect(server.requestCount == 2)
    #expect(try FileTree.readText(file) == #"{"a": 1}"#)
  }

  @Test func `a body in a file that is larger than the limit of memory is not read`() async throws {
    let folder = try TemporaryDirectory()
    let file = try folder.write("[\"\(String(repeating: "a", count: 2000))\"]", to: "body.json")
    let configuration = try folder.write(
      """
      {"plugins": {"e": {"library": "\(Self.editing)", "config": {"request": [{"op": "remove", "path": "/x"}]}}},
       "request": ["e"], "transport": {"spillBytes": 1000}}
      """, to: "c.json")
    let result = try await Tool.run(
      "send", "-c", configuration, "-H", "content-type: application/json", "--data-binary", "@\(file)",
      "http://127.0.0.1:1/")
    #expect(
      result.errorText.contains("it is in a file, and has more bytes than are held in memory"), "\(result.errorText)")
  }

  @Test func `an access log to a pipe without a reader fails at once and names the pipe`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let pipe = folder.path("pipe")
    try #require(mkfifo(pipe, 0o600) == 0)
    let configuration = try folder.write(
      """
      {"plugins": {"log": {"library": "\(BuiltProducts.library("access-log"))", "config": {"output": "\(pipe)"}}},
       "tracers": ["log"]}
      """, to: "c.json")
    let result = try await Tool.run("send", "-c", configuration, server.baseURL)
    #expect(result.status != 0)
    #expect(
      result.errorText.contains(
        "cannot open \(pipe): no process has opened the pipe for reading; start its reader first"),
      "\(result.errorText)")
    // The shell opens both ends before the command starts, so there is always a reader.
    let script =
      "exec 3<>\(pipe); \(Tool.path) send -s -o /dev/null -c \(configuration) \(server.baseURL); echo $?; head -n 1 <&3"
    let read = try await Command.run("sh", ["-c", script], environment: Tool.cleared)
    #expect(read.outputText.hasPrefix("0\n") && read.outputText.contains("GET"), "\(read)")
  }

  @Test func `an access log to a socket, or to a terminal that is not there, is not taken for a pipe`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let socket = folder.path("socket")
    try #require(mknod(socket, S_IFSOCK | 0o600, 0) == 0)
    for (path, reason) in [(socket, "it is a socket; name a file"), ("/dev/tty", "No such device or address")] {
      let configuration = try folder.write(
        """
        {"plugins": {"log": {"library": "\(BuiltProducts.library("access-log"))", "config": {"output": "\(path)"}}},
         "tracers": ["log"]}
        """, to: "c.json")
      // setsid gives the command a session without a terminal.
      let result = try await Command.run(
        "setsid", ["-w", Tool.path, "send", "-c", configuration, server.baseURL], environment: Tool.cleared)
      #expect(result.status != 0 && result.errorText.contains("cannot open \(path): \(reason)"), "\(result.errorText)")
    }
  }

  @Test(.enabled(if: !Sanitizer.isOn)) func `a trial whose limits the host cannot set does not blame the plugin`()
    async throws
  {
    let plugin = try await PluginCompiler.compile("acts")
    chmod(plugin.path, 0o755)
    let folder = try TemporaryDirectory()
    let source = try folder.write(
      """
      #include <errno.h>
      int setrlimit(int resource, const void *limit) { errno = EPERM; return -1; }
      int setrlimit64(int resource, const void *limit) { errno = EPERM; return -1; }
      """, to: "fails.c")
    let library = folder.path("fails.so")
    _ = try await Command.check("gcc", ["-shared", "-fPIC", "-o", library, source])
    for command in [["run", "-q", "--plugin", plugin.path], ["plugin", "validate", plugin.path]] {
      let result = try await Tool.run(arguments: command, environment: ["LD_PRELOAD": library])
      let text = result.errorText + result.outputText
      #expect(result.status != 0 && text.contains("could not be tried out: the limits of its process"), "\(text)")
      #expect(text.contains("Operation not permitted") && !text.contains("must return an error"), "\(text)")
    }
  }

  @Test(.enabled(if: !Sanitizer.isOn)) func `a plugin with AddressSanitizer needs its runtime from the start`()
    async throws
  {
    let plugin = try await PluginCompiler.compile("acts", flags: ["-fsanitize=address"])
    chmod(plugin.path, 0o755)
    for command in [["run", "-q", "--plugin", plugin.path], ["plugin", "validate", plugin.path]] {
      let refused = try await Tool.run(arguments: command)
      #expect(refused.status == 3, "\(refused.errorText)")
      #expect(refused.errorText.contains("is built with AddressSanitizer"), "\(refused.errorText)")
      #expect(refused.errorText.contains("LD_PRELOAD"))
    }
    let runtime = try await Command.check("gcc", ["-print-file-name=libasan.so"]).outputText
    let environment = ["LD_PRELOAD": runtime.filter { !$0.isNewline }, "ASAN_OPTIONS": "detect_leaks=0:handle_segv=0"]
    let accepted = try await Tool.run(
      arguments: ["run", "-q", "--plugin", plugin.path], environment: environment)
    #expect(accepted.status == 0, "\(accepted.errorText)")
  }

  @Test func `send removes the files that a plugin gave to the host`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let product = try await PluginCompiler.compile("gives-files")
    chmod(product.path, 0o755)
    let folder = try TemporaryDirectory()
    let result = try await Tool.run(
      "send", "--plugin", product.path, "-H", "x-file: \(folder.path("body"))", server.baseURL)
    withExtendedLifetime(product) {}
    #expect(result.status == 0, "\(result.errorText)")
    #expect(server.requests.first?.body == Array("given".utf8))
    #expect(FileTree.names(in: folder.path).isEmpty)
  }

  @Test func `a run through C plugins changes every request, and the summary has each stage`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let file = try folder.write(
      """
      {"plugins": {
        "auth": {"library": "\(Self.bearer)", "config": {"token": {"env": "API_TOKEN"}, "hosts": ["127.0.0.1"]}},
        "edit": {"library": "\(Self.editing)", "config": {"request": [{"op": "set", "path": "/seen", "value": true}]}}},
       "request": ["auth", "edit"], "transport": {"baseURL": "\(server.baseURL)"}}
      """, to: "c.json")
    let line =
      #"{"method": "POST", "url": "/", "headers": {"content-type": "application/json"}, "body": {"json": {"a": 1}}}"#
    let result = try await Tool.run(
      "run", "-c", file, input: [line, line, line].joined(separator: "\n"), environment: ["API_TOKEN": "secret"])
    #expect(result.status == 0, "\(result.errorText)\(result.outputText)")
    #expect(server.requests.count == 3)
    for request in server.requests {
      #expect(request.headers.first("authorization") == "Bearer secret")
      #expect(String(decoding: request.body, as: UTF8.self).contains(#""seen":true"#))
    }
    #expect(result.errorText.contains("request auth") && result.errorText.contains("request edit"))
  }

  @Test func `when send ends, a Swift plugin with its own writing thread has written everything, even after a failure`()
    async throws
  {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let log = folder.path("access.log")
    let plugin = "\(BuiltProducts.library("access-log"))={\"output\": \"\(log)\"}"
    for number in 1...20 {
      let url = number % 2 == 0 ? server.baseURL : "http://127.0.0.1:1"
      let result = try await Tool.run("send", "--plugin", plugin, url)
      #expect(result.status == (number % 2 == 0 ? 0 : 7))
      #expect(try FileTree.readText(log).split(separator: "\n").count == number)
    }
  }

  @Test func `check, run and send end with status 3 for a refused library, and name the file and the key`()
    async throws
  {
    let folder = try TemporaryDirectory()
    try folder.write("plain text", to: "libx.so")
    let file = try folder.write(
      "{\"plugins\":\n {\"x\": {\"library\": \"libx.so\"}}, \"request\": [\"x\"]}", to: "c.json")
    for command in [["check", "-c", file], ["run", "-c", file], ["send", "-c", file, "http://127.0.0.1:1/"]] {
      let result = try await Command.run(Tool.path, command)
      #expect(result.status == 3)
      for part in [file, "libx.so", "not an ELF file"] {
        #expect(result.errorText.contains(part), "\(result.errorText)")
      }
    }
  }

  @Test func `the command check names every library that it refuses`() async throws {
    let folder = try TemporaryDirectory()
    try folder.write("plain text", to: "libx.so")
    let file = try folder.write(
      #"{"plugins": {"x": {"library": "libx.so"}, "y": {"library": "libx.so"}}, "request": ["x", "y"]}"#, to: "c.json")
    let result = try await Tool.run("check", "-c", file)
    #expect(result.status == 3)
    #expect(result.errorText.contains("plugin \"x\"") && result.errorText.contains("plugin \"y\""))
  }

  @Test func `a stage that answers every request needs the same stack for any number of lines`() async throws {
    let plugin = try await PluginCompiler.compile(source: Self.answering, name: "answering")
    let count = 20_000
    let result = try await Tool.run(
      "run", "-q", "--concurrency", "3", "--plugin", plugin.path,
      input: String(repeating: "{\"url\": \"http://127.0.0.1:1/\"}\n", count: count))
    let failed = try result.documents.first { $0.status != 204 }
    #expect(result.status == 0, "\(result.errorText) \(String(describing: failed))")
    #expect(Set(try result.documents.compactMap { $0.status == 204 ? $0["id"]?.integer : nil }).count == count)
  }

  private static let answering = """
    #include <sluice/sluice.h>
    static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
      const sluice_host *host = instance;
      return host->exchange->respond(exchange, 204);
    }
    static const sluice_interceptor interceptor = SLUICE_TABLE(sluice_interceptor, .on_request = on_request);
    SLUICE_EXTENSIONS(extension, {SLUICE_INTERCEPTOR_ID, &interceptor});
    SLUICE_REQUIRES(respond);
    SLUICE_PLUGIN("test.answering", "1.0.0", .summary = "Answers everything", SLUICE_UNCONFIGURED, .extension = extension);

    """

  @Test func `check ends with status 2 for a configuration that the plugin's schema does not allow`() async throws {
    let folder = try TemporaryDirectory()
    let file = try folder.write(
      #"{"plugins": {"auth": {"library": "\#(Self.bearer)", "config": {"tokn": 7}}}, "request": ["auth"]}"#,
      to: "c.json")
    let result = try await Tool.run("check", "-c", file)
    #expect(result.status == 2, "\(result.errorText)")
    #expect(result.errorText.contains("tokn"))
  }

  @Test func `check ends with status 2 for a plugin in a stage list for which it has no callback`() async throws {
    let folder = try TemporaryDirectory()
    let file = try folder.write(
      #"{"plugins": {"auth": {"library": "\#(Self.bearer)", "config": {"token": "a", "hosts": ["*"]}}}, "tracers": ["auth"]}"#,
      to: "c.json")
    let result = try await Tool.run("check", "-c", file)
    #expect(result.status == 2)
    #expect(result.errorText.contains("tracers[0]"))
  }
}
