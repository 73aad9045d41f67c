import Glibc
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// The command on a machine on which `/proc` is not mounted.
@Suite(.enabled(if: geteuid() == 0 && !Sanitizer.isOn)) struct WithoutProcTests {
  private func run(_ arguments: [String], input: String = "", in folder: String? = nil) async throws -> CommandResult {
    try await Command.run(
      "unshare", ["-m", "sh", "-c", #"umount -l /proc && exec "$@""#, "sh"] + arguments, environment: Tool.cleared,
      standardInput: Array(input.utf8), workingDirectory: folder)
  }

  @Test(arguments: [
    ["version"], ["--version"], ["help", "run"], ["run", "--help"], ["completion", "bash"],
    ["plugin", "inspect", BuiltProducts.library("static-headers")], ["plugin", "validate", "--list"],
  ])
  func `a command that needs no server does the same with and without proc`(_ arguments: [String]) async throws {
    let with = try await Tool.run(arguments: arguments)
    let without = try await run([Tool.path] + arguments)
    #expect(without.ending == with.ending, "\(without.errorText)")
    #expect(without.outputText == with.outputText)
  }

  @Test func `requests go through plugins, which are tried out before`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let file = try folder.write(
      """
      {"plugins": {"h": {"library": "\(BuiltProducts.library("static-headers"))",
       "config": {"request": {"X-C": "plugin"}}}}, "request": ["h"]}
      """, to: "c.json")
    for arguments in [["send", "-c", file, server.baseURL], ["check", "-c", file]] {
      let result = try await run([Tool.path] + arguments)
      #expect(result.ending == .exited(0), "\(arguments): \(result.errorText)")
    }
    let lines = (0..<20).map { _ in #"{"url": "\#(server.baseURL)/"}"# + "\n" }.joined()
    let result = try await run([Tool.path, "run", "-q", "-c", file], input: lines)
    #expect(result.ending == .exited(0), "\(result.errorText)")
    #expect(try result.documents.compactMap(\.status) == [Int64](repeating: 200, count: 20))
    #expect(!result.errorText.contains("without a trial"), "\(result.errorText)")
    #expect(server.requests.allSatisfy { $0.headers.first("x-c") == "plugin" })
  }

  /// libdispatch would end the process if it looked at its threads during a task.
  @Test func `tasks run on threads that do not need proc`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let line = #"{"url": "\#(server.baseURL)/"}"# + "\n"
    for _ in 0..<20 {
      let result = try await run([Tool.path, "run", "-q"], input: line)
      #expect(result.ending == .exited(0), "\(result.errorText)")
    }
  }

  private static let names = ["/dev/stdout", "to-out", "/dev/stderr", "to-err"]

  @Test(arguments: names) func `the names of the output streams, and links to them, lead to the streams`(
    _ name: String
  ) async throws {
    let server = try LoopbackServer { _ in .text("body") }
    defer { server.stop() }
    let folder = try Self.folderWithLinks()
    let result = try await run([Tool.path, "send", "-o", name, server.baseURL], in: folder.path)
    let isError = name.hasSuffix("err")
    #expect(result.ending == .exited(0), "\(result.errorText)")
    #expect(result.outputText == (isError ? "" : "body") && result.errorText == (isError ? "body" : ""))
  }

  @Test(arguments: ["-", "/dev/stdin", "to-in"]) func `the names of standard input, and links to it, can be read`(
    _ name: String
  ) async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try Self.folderWithLinks()
    for option in [["-d", "@\(name)"], ["-T", name]] {
      let result = try await run(
        [Tool.path, "send"] + option + ["\(server.baseURL)/x"], input: "given", in: folder.path)
      #expect(result.ending == .exited(0), "\(result.errorText)")
    }
    #expect(server.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["given", "given"])
    let lines = try await run(
      [Tool.path, "run", "-q", "-i", name], input: #"{"url": "\#(server.baseURL)"}"# + "\n", in: folder.path)
    #expect(lines.ending == .exited(0) && server.requestCount == 3, "\(lines.errorText)")
  }

  @Test func `a new file is created on the file system of the folder proc`() async throws {
    let server = try LoopbackServer { _ in .text("body") }
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let plain = try await run([Tool.path, "send", "-o", folder.path("new"), server.baseURL])
    #expect(plain.ending == .exited(0) && FileTree.exists(folder.path("new")), "\(plain.errorText)")
  }

  private static func folderWithLinks() throws -> TemporaryDirectory {
    let folder = try TemporaryDirectory()
    for (target, name) in [("/dev/stdout", "to-out"), ("/dev/stderr", "to-err"), ("/dev/stdin", "to-in")] {
      try #require(symlink(target, folder.path(name)) == 0)
    }
    return folder
  }

  @Test func `checks that count threads and descriptors are skipped`() async throws {
    let result = try await run([Tool.path, "plugin", "validate", BuiltProducts.library("static-headers")])
    #expect(result.ending == .exited(0), "\(result.outputText)\(result.errorText)")
    #expect(result.outputText.contains("/proc is not mounted, so threads and descriptors cannot be counted"))
  }

  @Test func `a bad build is refused by its trial`() async throws {
    let plugin = try await PluginCompiler.compile("acts", defines: ["IN_CREATE=abort()"])
    let result = try await run([Tool.path, "run", "-q", "--plugin", plugin.path])
    #expect(result.ending == .exited(3), "\(result.errorText)")
    #expect(result.errorText.contains("crashed with SIGABRT in create"), "\(result.errorText)")
  }

  @Test func `plugin new and plugin build work, by a relative path of the command too`() async throws {
    let folder = try TemporaryDirectory()
    try #require(symlink(Tool.path, folder.path("tool")) == 0)
    for arguments in [["plugin", "new", "my", "--lang", "c"], ["plugin", "build", "my"]] {
      let result = try await run(["./tool"] + arguments, in: folder.path)
      #expect(result.ending == .exited(0), "\(arguments): \(result.errorText)")
    }
  }
}
