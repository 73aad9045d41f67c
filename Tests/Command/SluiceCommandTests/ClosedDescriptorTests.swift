import Glibc
import SluiceTestKit
import SluiceTestServers
import Testing

/// Plugins that close descriptors of the command: the command ends with an error that says so.
@Suite struct ClosedDescriptorTests {
  private static let closes = "do { for (int i = 3; i < 1024; i++) close(i); } while (0)"
  private static let advice = "sluice plugin validate finds such a plugin"

  /// Dispatch wakes once a second to count the threads of Swift's tasks. If the plugin closes the descriptors in just
  /// this moment, Dispatch ends the process with SIGILL before the command can say anything.
  private static func expectAdvice(_ result: CommandResult, at location: SourceLocation = #_sourceLocation) {
    if result.status == 128 + SIGILL { return }
    #expect(result.status == 1, "\(result.errorText)", sourceLocation: location)
    #expect(result.errorText.contains(advice), "\(result.errorText)", sourceLocation: location)
  }

  @Test(arguments: ["IN_ACTIVATE", "IN_REQUEST"])
  func `run fails and says that a plugin has closed descriptors`(_ moment: String) async throws {
    let plugin = try await PluginCompiler.compile("acts", defines: ["\(moment)=\(Self.closes)"])
    let server = try LoopbackServer()
    defer { server.stop() }
    let line = #"{"url": "\#(server.baseURL)/"}"# + "\n"
    let result = try await Tool.run("run", "-q", "--plugin", plugin.path, input: line + line)
    Self.expectAdvice(result)
  }

  @Test(arguments: ["IN_ACTIVATE", "IN_REQUEST"])
  func `send fails and says that a plugin has closed descriptors`(_ moment: String) async throws {
    let plugin = try await PluginCompiler.compile("acts", defines: ["\(moment)=\(Self.closes)"])
    let server = try LoopbackServer()
    defer { server.stop() }
    let result = try await Tool.run("send", "--plugin", plugin.path, "\(server.baseURL)/")
    Self.expectAdvice(result)
  }

  /// A task that sleeps wakes a thread of Dispatch, which ends the process with a signal if its descriptors are closed
  /// at that moment. So no task may sleep while plugins are called. The timer of such tasks is the only one with clock
  /// 7 (`CLOCK_BOOTTIME`).
  @Test(arguments: ["run", "send"])
  func `no task sleeps while plugins are activated`(_ command: String) async throws {
    let finds = #"system("grep -ls 'clockid: 7' /proc/$PPID/fdinfo/* >&2")"#
    let plugin = try await PluginCompiler.compile("acts", defines: ["IN_ACTIVATE=(void)!\(finds)"])
    let server = try LoopbackServer()
    defer { server.stop() }
    let url = "\(server.baseURL)/"
    let words = ["--plugin", plugin.path] + (command == "send" ? [url] : ["-q"])
    let result = try await Tool.run(arguments: [command] + words, input: #"{"url": "\#(url)"}"# + "\n")
    #expect(result.status == 0, "\(result.errorText)")
    #expect(result.errorText == "")
  }

  /// Then there is no descriptor for a message either.
  @Test func `run fails if a plugin has closed every descriptor`() async throws {
    let plugin = try await PluginCompiler.compile("acts", defines: ["IN_ACTIVATE=closefrom(0)"])
    let result = try await Tool.run("run", "-q", "--plugin", plugin.path, input: #"{"url": "http://127.0.0.1:1/"}"#)
    #expect(result.status == 1, "\(result.errorText)")
  }
}
