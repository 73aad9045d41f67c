import Glibc
import SluiceTestKit
import SluiceTestServers
import Testing

/// Plans that change while a program runs, and stages that wait.
///
/// Disabled under a sanitizer: the host library then needs the sanitizer's runtime, which the programs do not have.
@Suite(.enabled(if: !Sanitizer.isOn)) struct AttachSwapTests {
  private static func configuration(_ value: String) -> String {
    """
    {"plugins": {"fixed": {"library": "\(BuiltProducts.library("static-headers"))",
      "config": {"request": {"X-C": "\(value)"}}}}, "request": ["fixed"]}
    """
  }

  private static func start(_ fixture: AttachFixture, _ program: ForeignProgram) throws -> RunningCommand {
    try Command(
      Tool.path, ["attach", "-c", fixture.configuration, "--", program.path, fixture.url], environment: Tool.cleared
    ).start()
  }

  @Test func `the next transfer of a program uses a changed configuration`() async throws {
    let fixture = try AttachFixture()
    _ = try fixture.folder.write(Self.configuration("one"), to: "c.json")
    let program = try await ForeignProgram.compile("by_line")
    let command = try Self.start(fixture, program)
    try command.write("\n")
    try await command.waitForOutput(containing: "=> 0 200\n")
    _ = try fixture.folder.write(Self.configuration("two"), to: "c.json")
    try await command.waitForError(containing: "a new plan is ready")
    command.writeAndClose([UInt8(ascii: "\n")])
    #expect(try await command.wait().ending == .exited(0))
    withExtendedLifetime(program) {}
    #expect(fixture.server.requests.each("x-c") == ["one", "two"])
  }

  @Test func `the next transfer uses a configuration to which a link of a folder leads now`() async throws {
    let fixture = try AttachFixture()
    for value in ["one", "two"] {
      try fixture.folder.makeFolder(value)
      try fixture.folder.write(Self.configuration(value), to: "\(value)/c.json")
    }
    let (link, next) = (fixture.folder.path("current"), fixture.folder.path("next"))
    try #require(symlink("one", link) == 0 && symlink("two", next) == 0)
    let program = try await ForeignProgram.compile("by_line")
    let command = try Command(
      Tool.path, ["attach", "-c", "\(link)/c.json", "--", program.path, fixture.url], environment: Tool.cleared
    ).start()
    try command.write("\n")
    try await command.waitForOutput(containing: "=> 0 200\n")
    try #require(rename(next, link) == 0)
    try await command.waitForError(containing: "a new plan is ready")
    command.writeAndClose([UInt8(ascii: "\n")])
    #expect(try await command.wait().ending == .exited(0))
    withExtendedLifetime(program) {}
    #expect(fixture.server.requests.each("x-c") == ["one", "two"])
  }

  @Test(arguments: ["{\"plugins\": ", "{\"attach\": {\"response\": \"staged\"}}"])
  func `a program keeps its plan when the new one has an error`(text: String) async throws {
    let fixture = try AttachFixture()
    _ = try fixture.folder.write(Self.configuration("one"), to: "c.json")
    let program = try await ForeignProgram.compile("by_line")
    let command = try Self.start(fixture, program)
    try command.write("\n")
    try await command.waitForOutput(containing: "=> 0 200\n")
    _ = try fixture.folder.write(text, to: "c.json")
    try await command.waitForError(containing: "the program keeps the plan that it has")
    command.writeAndClose([UInt8(ascii: "\n")])
    #expect(try await command.wait().ending == .exited(0))
    withExtendedLifetime(program) {}
    #expect(fixture.server.requests.each("x-c") == ["one", "one"])
  }

  @Test func `the next transfer of a program uses a plugin that was built again`() async throws {
    let fixture = try AttachFixture()
    let library = fixture.folder.path("libstamp.so")
    let builds = try await StampedLibrary.inC()
    try builds.install(1, at: library)
    _ = try fixture.folder.write(
      "{\"plugins\": {\"s\": {\"library\": \"\(library)\"}}, \"request\": [\"s\"]}", to: "c.json")
    let program = try await ForeignProgram.compile("by_line")
    let command = try Self.start(fixture, program)
    try command.write("\n")
    try await command.waitForOutput(containing: "=> 0 200\n")
    try builds.install(2, at: library)
    try await command.waitForError(containing: "a new plan is ready")
    command.writeAndClose([UInt8(ascii: "\n")])
    #expect(try await command.wait().ending == .exited(0))
    withExtendedLifetime(program) {}
    #expect(fixture.server.requests.each("x-generation") == ["1", "2"])
  }

  /// The state belongs to the plugin, not to its name in the configuration.
  @Test(arguments: [("fixture", "3"), ("another", "1")])
  func `a state goes to the next build of the same plugin only`(id: String, count: String) async throws {
    let fixture = try AttachFixture()
    let first = try await PluginCompiler.compile("keeps-state")
    let second = try await PluginCompiler.compile("keeps-state", name: "second", defines: ["FIXTURE_ID=\"\(id)\""])
    func write(_ library: String) throws {
      _ = try fixture.folder.write(
        "{\"plugins\": {\"s\": {\"library\": \"\(library)\"}}, \"request\": [\"s\"]}", to: "c.json")
    }
    try write(first.path)
    let program = try await ForeignProgram.compile("by_line")
    let command = try Self.start(fixture, program)
    try command.write("\n")
    try await command.waitForOutput(containing: "=> 0 200\n")
    try command.write("\n")
    try await fixture.server.waitForRequests(2)
    try write(second.path)
    try await command.waitForError(containing: "a new plan is ready")
    command.writeAndClose([UInt8(ascii: "\n")])
    #expect(try await command.wait().ending == .exited(0))
    withExtendedLifetime((program, first, second)) {}
    #expect(fixture.server.requests.each("x-count") == ["1", "2", count])
  }

  @Test(arguments: [(false, "1"), (true, "2")])
  func `a program keeps its plan if a state that the new build needs is not saved`(
    isOptional: Bool, generation: String
  ) async throws {
    let fixture = try AttachFixture()
    let library = fixture.folder.path("libstamp.so")
    let builds = try await StampedLibrary.inC(.savesNone, isStateOptional: isOptional)
    try builds.install(1, at: library)
    _ = try fixture.folder.write(
      "{\"plugins\": {\"s\": {\"library\": \"\(library)\"}}, \"request\": [\"s\"]}", to: "c.json")
    let program = try await ForeignProgram.compile("by_line")
    let command = try Self.start(fixture, program)
    try command.write("\n")
    try await command.waitForOutput(containing: "=> 0 200\n")
    try builds.install(2, at: library)
    try await command.waitForError(containing: "a new plan is ready")
    command.writeAndClose([UInt8(ascii: "\n")])
    let result = try await command.wait()
    #expect(result.ending == .exited(0))
    #expect(result.errorText.contains("its state"))
    withExtendedLifetime(program) {}
    #expect(fixture.server.requests.each("x-generation") == ["1", generation])
  }

  @Test(arguments: [[], ["-Z", "--no-progress-meter"]])
  func `the program waits for a Swift stage that suspends`(options: [String]) async throws {
    let fixture = try AttachFixture(
      more: #", "s": {"library": "\#(BuiltProducts.library("sleeps-statically"))"}"#, stages: #""request": ["s"]"#)
    let requests = try await fixture.compare(["curl", "-sS"] + options + ["\(fixture.url)/a"])
    #expect(requests.each("x-count") == ["1"])
  }

  @Test func `a stage that does not resume fails the transfer at its deadline`() async throws {
    let fixture = try AttachFixture(
      more: #", "s": {"library": "\#(BuiltProducts.library("sleeps-statically"))", "deadline": "50ms"}"#,
      stages: #""request": ["s"]"#)
    let result = try await fixture.attach(["curl", "-sS", "-H", "x-sleep: forever", "\(fixture.url)/a"])
    #expect(result.status == 42)
    #expect(result.errorText.contains("stage \"s\": it did not resume within its deadline of 0.05 seconds"))
    #expect(fixture.server.requestCount == 0)
  }

  @Test func `an error of a plugin is reported before the program starts`() async throws {
    let fixture = try AttachFixture(
      more: #", "bad": {"library": "\#(BuiltProducts.library("static-headers"))", "config": {"nonsense": 1}}"#,
      stages: #""request": ["bad"]"#)
    let result = try await fixture.attach(["sh", "-c", "echo started"])
    #expect(result.status == 2)
    #expect(result.outputText.isEmpty)
    #expect(result.errorText.contains("nonsense"))
  }
}
