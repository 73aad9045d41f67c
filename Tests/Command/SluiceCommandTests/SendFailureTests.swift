import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// Failures of one request, each with its error code and its exit status.
@Suite struct SendFailureTests {
  @Test(arguments: [
    (["ftp://127.0.0.1/"], "scheme \"ftp\" is not supported"), (["/items"], "not absolute"),
    (["mailto:a@127.0.0.1"], "not absolute"), (["ht!tp://x"], "\"ht!tp\" before :// is not a scheme"),
    (["http://💩.example/"], "its host \"💩.example\" has a character"),
    (["http://h/\u{FFFD}"], "U+FFFD is not allowed in a URL"),
    (["-H", "a", "http://127.0.0.1/"], "expected \"NAME: VALUE\""),
    (["-H", "a: b\r\nc: d", "http://127.0.0.1/"], "holds CR, LF"),
    (["-H", "Host:", "http://127.0.0.1/"], "\"Host\" cannot be removed"),
    (["-H", "content-length:", "http://127.0.0.1/"], "\"content-length\" cannot be removed"),
    (["-X", "GET", "POST", "http://127.0.0.1/"], "give it once"), (["-X", "G T", "http://127.0.0.1/"], "not a token"),
    (["CONNECT", "http://127.0.0.1/"], "method \"CONNECT\": it opens a tunnel"),
    (["-H", "Host: a", "-H", "host: a", "http://127.0.0.1/"], "header \"host\": the request has more than one"),
    (["-H", "Host: a b", "http://127.0.0.1/"], "header \"host\": it has a character in its host"),
    (["-d@/nonexistent", "http://127.0.0.1/"], "send: -d: cannot read /nonexistent"),
    (["-d@/", "http://127.0.0.1/"], "send: -d: cannot read /: Is a directory"),
    (["--data-binary", "@/", "http://127.0.0.1/"], "send: --data-binary: cannot read /: Is a directory"),
    (["-c", "/nonexistent", "http://127.0.0.1/"], "/nonexistent: cannot read it"),
    (["--cacert", "/nonexistent", "https://127.0.0.1/"], "--cacert: cannot read /nonexistent"),
    (["--plugin", "/nonexistent.so={", "http://127.0.0.1/"], "is not JSON"),
  ])
  func `send ends with status 2 for an error before anything is sent`(
    _ arguments: [String], _ message: String
  ) async throws {
    let result = try await Command.run(Tool.path, ["send"] + arguments)
    #expect(result.status == 2)
    #expect(result.errorText.contains(message))
  }

  @Test func `the error for data beyond the limit names the key to raise`() async throws {
    let folder = try TemporaryDirectory()
    let file = try folder.write(#"{"transport": {"maxRequestBytes": 10}}"#, to: "c.json")
    let data = try folder.write("eleven byte", to: "data")
    let words = "it has more than 10 bytes; raise transport.maxRequestBytes\n"
    for (argument, name) in [("@\(data)", data), ("@-", "standard input")] {
      let result = try await Tool.run("send", "-c", file, "-d", argument, "http://127.0.0.1:1/", input: "eleven byte")
      #expect(result.status == 1)
      #expect(result.errorText == "sluice: send: -d: cannot read \(name): \(words)")
    }
  }

  @Test(arguments: ["-o", "--events"])
  func `send ends with status 2 if the output file is also the file to send, and does not change the file`(
    _ option: String
  ) async throws {
    let folder = try TemporaryDirectory()
    let file = try folder.write("to be sent", to: "data")
    let result = try await Tool.run("send", "--data-binary", "@\(file)", option, file, "http://127.0.0.1:1/")
    #expect(result.status == 2)
    #expect(result.errorText.hasSuffix(": \(file) is also the file of --data-binary; name another file\n"))
    #expect(try FileTree.readText(file) == "to be sent")
  }

  @Test func `a host name that does not resolve is named in the error`() async throws {
    let result = try await Tool.run("send", "http://no-such-host.invalid/")
    #expect(result.status == 6)
    #expect(result.errorText.contains("sluice: dns: "))
    #expect(result.errorText.contains("no-such-host.invalid"))
  }

  @Test func `a response that is not HTTP and a body that is cut off have different error codes`() async throws {
    let garbage = try ScriptedServer(.receiveHead, .send("SSH-2.0-x\r\n"))
    defer { garbage.stop() }
    let invalid = try await Tool.run("send", garbage.baseURL)
    #expect(invalid.status == 8)
    #expect(invalid.errorText.contains("sluice: invalid_response: "))
    let cut = try ScriptedServer(.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"))
    defer { cut.stop() }
    let result = try await Tool.run("send", cut.baseURL)
    #expect(result.status == 18)
    #expect(result.outputText == "half")
    #expect(result.errorText.contains("sluice: connection_lost: "))
  }

  @Test func `a body that the configuration does not accept is printed, but send fails`() async throws {
    let server = try LoopbackServer { _ in .text("<html>") }
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let file = try folder.write(#"{"validate": {"extract": "json"}}"#, to: "c.json")
    let output = folder.path + "/body"
    for (arguments, text) in [([String](), "<html>"), (["-o", output], "")] {
      let result = try await Command.run(Tool.path, ["send", "-c", file] + arguments + [server.baseURL])
      #expect(result.status == 1)
      #expect(result.outputText == text)
      #expect(result.errorText.contains("sluice: extraction: the body is not JSON"))
      #expect(!result.errorText.contains("incomplete"))
    }
    #expect(try FileTree.readText(output) == "<html>")
  }

  @Test func `a response beyond the limit of the configuration fails`() async throws {
    let server = try LoopbackServer { _ in .text(String(repeating: "x", count: 5000)) }
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let file = try folder.write(#"{"transport": {"maxResponseBytes": 1000}}"#, to: "c.json")
    let result = try await Tool.run("send", "-c", file, server.baseURL)
    #expect(result.status == 63)
    #expect(result.errorText.contains("sluice: response_too_large: "))
  }

  @Test func `an untrusted certificate is refused, but accepted with an option`() async throws {
    guard NginxServer.isAvailable else { return }
    let certificates = try await TestCertificates.shared()
    let server = try await NginxServer.start(certificates: certificates)
    defer { withExtendedLifetime(server) {} }
    let refused = try await Tool.run("send", server.secureBaseURL)
    #expect(refused.status == 60)
    #expect(refused.errorText.contains("sluice: tls: "))
    #expect(refused.errorText.contains("name its authority in --cacert"))
    for option in [["-k"], ["--cacert", certificates.authority]] {
      let result = try await Command.run(Tool.path, ["send"] + option + [server.secureBaseURL])
      #expect(result.status == 0)
      #expect(result.outputText == "ok\n")
    }
  }

  @Test func `a request without a response does not change the output file`() async throws {
    let folder = try TemporaryDirectory()
    let (new, old) = (folder.path("new"), try folder.write("before", to: "old"))
    let url = "http://127.0.0.1:\(try Loopback.freePort())/"
    for file in [new, old] {
      let result = try await Tool.run("send", "-o", file, url)
      #expect(result.status == 7)
      #expect(result.errorText.hasPrefix("sluice: connect: "))
      #expect(!result.errorText.contains("incomplete"))
    }
    #expect(throws: (any Error).self) { try FileTree.readText(new) }
    #expect(try FileTree.readText(old) == "before")
    let document = try await Tool.run("send", "--document", "-o", new, url)
    #expect(!document.errorText.contains("incomplete"))
    #expect(try FileTree.readText(new).contains(#""connect""#))
  }

  @Test func `a response without a body makes an empty file`() async throws {
    let server = try LoopbackServer { _ in ServerResponse(status: 204) }
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    for file in [folder.path("new"), try folder.write("before", to: "old")] {
      #expect(try await Tool.run("send", "-o", file, server.baseURL).status == 0)
      #expect(try FileTree.readText(file) == "")
    }
  }

  @Test func `the received part of an incomplete response stays in the file, and is reported as incomplete`()
    async throws
  {
    let server = try ScriptedServer(.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"))
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let file = try folder.write("before, and longer", to: "out")
    let result = try await Tool.run("send", "-o", file, server.baseURL)
    #expect(result.status == 18)
    #expect(result.errorText.contains("sluice: \(file) is incomplete\n"))
    #expect(try FileTree.readText(file) == "half")
  }

  @Test func `send ends with status 23 if the output cannot be written, and names the file`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    for path in ["/nonexistent/x", "/"] {
      let folder = try await Tool.run("send", "-o", path, server.baseURL)
      #expect(folder.status == 23)
      #expect(folder.errorText.contains("cannot write \(path): "))
    }
    #expect(server.requestCount == 0)
    let large = try LoopbackServer { _ in
      ServerResponse(body: .generated(.alphabet, byteCount: 64 << 20, chunked: true))
    }
    defer { large.stop() }
    let full = try await Tool.run("send", "-o", "/dev/full", server.baseURL)
    #expect(full.status == 23)
    #expect(full.errorText.contains("cannot write /dev/full: No space left on device"))
    let logs = try TemporaryDirectory()
    let log = logs.path("events")
    _ = try await Tool.run("send", "-o", "/dev/full", "--events", log, large.baseURL)
    let last = try #require(try FileTree.readText(log).split(separator: "\n").last)
    #expect(last.contains(#""event":"did_complete""#) && last.contains(#""outcome":"failed""#), "\(last)")
    #expect(last.contains(#""code":"sink","message":"cannot write /dev/full: No space left on device""#), "\(last)")
  }

  @Test(
    arguments: [
      (#""maxHeadBytes": 2048"#, "HTTP/1.1 200 OK\r\nX: \(String(repeating: "x", count: 2048))\r\n\r\n"),
      (#""maxHeadFields": 20"#, "HTTP/1.1 200 OK\r\n\(String(repeating: "X: y\r\n", count: 21))\r\n"),
      (#""maxInformationalResponses": 1"#, String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: 2)),
    ])
  func `a response over a limit fails with the name of the limit`(
    _ row: (limit: String, response: String)
  ) async throws {
    let server = try ScriptedServer(.receiveHead, .send(row.response), .receiveToEnd)
    let folder = try TemporaryDirectory()
    let pipeline = try folder.write(#"{"transport": {\#(row.limit)}}"#, to: "c.json")
    let result = try await Tool.run("send", "-c", pipeline, server.baseURL)
    let key = try #require(row.limit.split(separator: "\"").first)
    #expect(result.errorText.contains("the response exceeds a limit: "), "\(result.errorText)")
    #expect(result.errorText.hasSuffix("raise transport.\(key)\n"), "\(result.errorText)")
  }

  @Test func `a setting of the configuration is named by its key, and an option by its name`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    server.hold()
    let folder = try TemporaryDirectory()
    let pipeline = try folder.write(#"{"transport": {"timeout": "50ms"}}"#, to: "c.json")
    let key = try await Tool.run("send", "-c", pipeline, server.baseURL)
    #expect(key.errorText.hasSuffix(" (transport.timeout)\n"), "\(key.errorText)")
    let option = try await Tool.run("send", "-c", pipeline, "-m", "50ms", server.baseURL)
    #expect(option.errorText.hasSuffix(" (-m)\n"), "\(option.errorText)")
    server.release()
  }

  @Test func `a timeout has its own code`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    server.hold()
    let result = try await Tool.run("send", "-m", "50ms", server.baseURL)
    #expect(result.status == 28)
    #expect(result.errorText.contains("sluice: deadline: ") || result.errorText.contains("sluice: timeout: "))
    #expect(result.errorText.hasSuffix(" (-m)\n"))
    server.release()
  }
}
