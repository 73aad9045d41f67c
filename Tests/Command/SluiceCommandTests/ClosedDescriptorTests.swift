import SluiceTestKit
import SluiceTestServers
import Testing

/// Plugins that close descriptors of the command: the command ends with an error that says so.
@Suite struct ClosedDescriptorTests {
  private static let closes = "do { for (int i = 3; i < 1024; i++) close(i); } while (0)"
  private static let advice = "sluice plugin validate finds such a plugin"

  @Test(arguments: ["IN_ACTIVATE", "IN_REQUEST"])
  func `run fails and says that a plugin has closed descriptors`(_ moment: String) async throws {
    let plugin = try await PluginCompiler.compile("acts", defines: ["\(moment)=\(Self.closes)"])
    let server = try LoopbackServer()
    defer { server.stop() }
    let line = #"{"url": "\#(server.baseURL)/"}"# + "\n"
    let result = try await Tool.run("run", "-q", "--plugin", plugin.path, input: line + line)
    #expect(result.status == 1, "\(result.errorText)")
    #expect(result.errorText.contains(Self.advice), "\(result.errorText)")
  }

  @Test(arguments: ["IN_ACTIVATE", "IN_REQUEST"])
  func `send fails and says that a plugin has closed descriptors`(_ moment: String) async throws {
    let plugin = try await PluginCompiler.compile("acts", defines: ["\(moment)=\(Self.closes)"])
    let server = try LoopbackServer()
    defer { server.stop() }
    let result = try await Tool.run("send", "--plugin", plugin.path, "\(server.baseURL)/")
    #expect(result.status != 0, "\(result.outputText)")
    #expect(result.errorText.contains(Self.advice), "\(result.errorText)")
  }

  /// Then there is no descriptor for a message either.
  @Test func `run fails if a plugin has closed every descriptor`() async throws {
    let plugin = try await PluginCompiler.compile("acts", defines: ["IN_ACTIVATE=closefrom(0)"])
    let result = try await Tool.run("run", "-q", "--plugin", plugin.path, input: #"{"url": "http://127.0.0.1:1/"}"#)
    #expect(result.status == 1, "\(result.errorText)")
  }
}
