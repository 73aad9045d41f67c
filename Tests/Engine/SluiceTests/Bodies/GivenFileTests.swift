import Glibc
import Sluice
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// Files that a plugin gives to the host (`body_set_file` with `SLUICE_FILE_REMOVE`), and trailers that it adds.
@Suite struct GivenFileTests {
  /// Runs a request through the fixture `gives-files`, and returns the plugin's log after the result is released.
  private func run(
    _ url: String, _ headers: HeaderFields, _ check: (TransactionResult) throws -> Void
  ) async throws -> [String] {
    let product = try await PluginCompiler.compile("gives-files")
    chmod(product.path, 0o755)
    let text = """
      {"plugins": {"stage": {"library": "\(product.path)"}}, "request": ["stage"], "response": ["stage"]}
      """
    let log = Watched<[String]>([])
    let engine = try Engine(Configuration(text: Array(text.utf8))) { line in log.update { $0.append(line.message) } }
    try check(await engine.transaction(Request(url: try HTTPURL(url), headers: headers)))
    await engine.shutdown()
    withExtendedLifetime(product) {}
    return log.value
  }

  @Test(arguments: ["1", "2"])
  func `a given file is sent and then removed, even if the plugin gave it twice`(_ times: String) async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let told = try await run(server.baseURL, ["x-file": folder.path("body"), "x-times": times]) { result in
      #expect(result.error == nil)
    }
    #expect(told.filter { $0 == "given=0" }.count == Int(times))
    #expect(server.requests.first?.body == Array("given".utf8))
    #expect(FileTree.names(in: folder.path).isEmpty)
  }

  @Test func `a file that the host refuses is removed too`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let told = try await run(server.baseURL, ["x-file": folder.path("body"), "x-flags": "3"]) { _ in }
    #expect(told.contains("given=-1"))
    #expect(FileTree.names(in: folder.path).isEmpty)
  }

  @Test func `a FIFO in place of the file fails the transaction, and blocks nothing`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    _ = try await run(server.baseURL, ["x-file": folder.path("body"), "x-fifo": "1"]) { result in
      #expect(result.error?.code == "body_file")
      #expect(result.error?.message.contains("is not a regular file") == true)
    }
  }

  @Test func `a stage's trailers are added to the server's trailers, and trailers that frame a message are refused`()
    async throws
  {
    let server = try ScriptedServer(
      .receiveRequest,
      .send(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Wire\r\n\r\n2\r\nok\r\n0\r\nX-Wire: yes\r\n\r\n"))
    let told = try await run(server.baseURL, [:]) { result in
      #expect(result.response?.trailers["x-wire"] == "yes" && result.response?.trailers["x-sum"] == "1")
      #expect(result.response?.trailers["content-length"] == nil)
    }
    #expect(told.contains("allowed=0") && told.contains("barred=-1"))
  }
}
