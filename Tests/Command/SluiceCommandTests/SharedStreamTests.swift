import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// Descriptors 0 to 2 after a plugin has closed them: no connection and no file of the host gets their numbers, and the
/// messages of the command still arrive.
@Suite struct SharedStreamTests {
  private static let moments = ["IN_LOAD", "IN_CREATE", "IN_ACTIVATE", "IN_REQUEST"]
  private static let acts = ["close(2)", "do { close(0); close(1); close(2); } while (0)", once("fclose(stderr)")]

  private static func once(_ act: String) -> String { "do { static int done; if (!done++) \(act); } while (0)" }

  private func lines(_ count: Int, _ url: String) -> String {
    (0..<count).map { #"{"id": "r\#($0)", "url": "\#(url)/"}"# + "\n" }.joined()
  }

  @Test(arguments: moments, acts)
  func `what plugins and the command print goes to no connection`(_ moment: String, _ act: String) async throws {
    let closes = try await PluginCompiler.compile("acts", defines: ["\(moment)=\(act)"])
    let prints = try await PluginCompiler.compile("acts", defines: [#"IN_REQUEST=dprintf(2, "CHATTER\n")"#])
    let server = try LoopbackServer(recording: .everything)
    defer { server.stop() }
    let result = try await Tool.run(
      "run", "-q", "--log-level", "debug", "--plugin", closes.path, "--plugin", prints.path,
      input: lines(4, server.baseURL))
    #expect(result.status == 0, "\(result.errorText)")
    #expect(try result.documents.count == 4)
    #expect(server.requestCount == 4 && server.requests.allSatisfy { $0.method == "GET" && $0.body.isEmpty })
    let call =
      switch moment {
      case "IN_LOAD": "in a constructor, which ran while the library was loaded, it"
      case "IN_CREATE": "in create, it"
      case "IN_ACTIVATE": "in activate, it"
      default: "a plugin, or a thread of a plugin,"
      }
    #expect(result.errorText.contains("\(call) closed descriptor 2 (standard error)"), "\(result.errorText)")
    if moment != "IN_REQUEST" { #expect(result.errorText.contains("CHATTER\n"), "\(result.errorText)") }
  }

  @Test(arguments: moments, acts)
  func `messages of send arrive, and files have only what belongs to them`(
    _ moment: String, _ act: String
  ) async throws {
    let plugin = try await PluginCompiler.compile("acts", defines: ["\(moment)=\(act)"])
    let server = try LoopbackServer { _ in .text("hello") }
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let result = try await Tool.run(
      "send", "-v", "--plugin", plugin.path, "-o", folder.path("out"), "-D", "/dev/stderr", "\(server.baseURL)/there")
    #expect(result.status == 0, "\(result.errorText)")
    #expect(try FileTree.readText(folder.path("out")) == "hello")
    #expect(result.errorText.contains("> GET /there"), "\(result.errorText)")
    #expect(result.errorText.contains("\nHTTP/1.1 200 OK"), "\(result.errorText)")
  }

  @Test(arguments: moments)
  func `dev names the plugin and the call that closes a descriptor`(_ moment: String) async throws {
    let plugin = try await PluginCompiler.compile("acts", defines: ["\(moment)=close(2)"])
    let log = try await DevRun.log(of: plugin.path)
    #expect(log.contains { $0.contains("it closed descriptor 2 (standard error)") }, "\(log)")
  }
}
