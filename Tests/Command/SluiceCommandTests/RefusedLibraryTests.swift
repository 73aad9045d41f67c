import Glibc
import SluiceJSON
import SluiceTestKit
import Testing

/// Tests `check`, `run` and `send` with libraries that cannot serve. An existing library is refused with status 3, and
/// a missing library is a wrong configuration. Each message names the file, the key and what to do.
@Suite struct RefusedLibraryTests {
  /// A fixture of Tests/Fixtures/Plugins, and how it is damaged.
  struct Case: Sendable, CustomTestStringConvertible {
    enum Change: Sendable {
      case none, empty, text, otherMachine, inOpenFolder, linked(to: String)
      /// The file is cut to this many thousandths of its size.
      case truncated(Int)
    }

    let what: String
    let fixture: String
    var defines: [String] = []
    var change = Change.none
    let words: [String]

    var testDescription: String { what }
  }

  static let cases =
    [
      Case(what: "empty", fixture: "minimal", change: .empty, words: ["is empty"]),
      Case(what: "text", fixture: "minimal", change: .text, words: ["not an ELF file"]),
      Case(
        what: "for another machine", fixture: "minimal", change: .otherMachine, words: ["this host is", "build it for"]),
      Case(what: "without entry", fixture: "no-entry", words: ["does not define sluice_plugin_entry"]),
      Case(
        what: "entry in a dependency", fixture: "no-entry", change: .linked(to: "minimal"),
        words: ["does not define sluice_plugin_entry"]),
      Case(
        what: "disjoint ABI", fixture: "own-note", defines: ["ABI_MIN=2", "ABI_MAX=4"],
        words: ["built for ABI 2 to 4, this host speaks ABI 1"]),
      Case(
        what: "own jansson", fixture: "own-jansson", defines: ["LINKAGE="],
        words: ["carries its own jansson", "json_object_set_new"]),
      Case(
        what: "create fails", fixture: "breaks-lifecycle", defines: ["CREATE=SLUICE_STATUS_FAILED"],
        words: ["the moon is missing"]),
      Case(
        what: "activate fails", fixture: "breaks-lifecycle", defines: ["ACTIVATE=SLUICE_STATUS_FAILED"],
        words: ["the moon is down"]),
      Case(
        what: "create gives NULL", fixture: "breaks-lifecycle", defines: ["INSTANCE=NULL"],
        words: ["gave no instance"]),
      Case(what: "in an open folder", fixture: "minimal", change: .inOpenFolder, words: ["is writable", "chmod go-w"]),
    ]
    + [1, 10, 250, 500, 900, 990, 999].map { thousandths in
      Case(
        what: "truncated to \(thousandths) thousandths", fixture: "minimal", change: .truncated(thousandths),
        words: ["truncated"])
    }

  @Test(arguments: cases)
  func `the command ends with status 3 for a library that cannot serve, and names file, key and reason`(_ given: Case)
    async throws
  {
    let folder = try TemporaryDirectory()
    let home = try folder.makeFolder("plugins")
    try await Self.place(given, in: home)
    let configuration = try folder.write(
      "{\"plugins\":\n  {\"broken\": {\"library\": \"plugins/libx.so\"}}}", to: "c.json")
    for command in [["check"], ["run", "-q"], ["send", "http://127.0.0.1:1/"]] {
      let result = try await Command.run(Tool.path, command + ["-c", configuration])
      #expect(result.status == 3, "\(command): \(result.errorText)")
      #expect(result.outputText.isEmpty)
      for part in given.words + [configuration, "plugins.broken", "plugin \"broken\"", "libx.so"] {
        #expect(result.errorText.contains(part), "no \"\(part)\" in \(result.errorText)")
      }
    }
  }

  /// A fixture, its compiler definition, and the expected message.
  static let misbehaving: [(fixture: String, define: String, words: String)] = [
    ("constructor-crashes", "UNUSED", "crashed with SIGSEGV while it was loaded"),
    ("constructor-exits", "UNUSED", "while it was loaded"),
    ("constructor-hangs", "UNUSED", "had not ended while it was loaded"),
    ("create-misbehaves", "DOES=exit(0)", "ended the process with status 0 in create of \"broken\""),
    ("create-misbehaves", "DOES=abort()", "crashed with SIGABRT in create of \"broken\""),
    ("constructor-kills-its-parent", "UNUSED", "ended the process that watched its trial: SIGKILL arrived while"),
  ]

  @Test(arguments: misbehaving)
  func `a library that ends its process ends only the trial's process, and the command ends with status 3`(
    _ fixture: String, _ define: String, _ words: String
  ) async throws {
    let folder = try TemporaryDirectory()
    let product = try await PluginCompiler.compile(fixture, defines: [define])
    let path = try folder.write(try FileTree.read(product.path), to: "libx.so")
    chmod(path, 0o755)
    let limit = fixture == "constructor-hangs" ? "500ms" : "60s"
    let configuration = try folder.write(
      "{\"swap\": {\"trial\": \"\(limit)\"}, \"plugins\":\n  {\"broken\": {\"library\": \"libx.so\"}}}", to: "c.json")
    for command in [["check"], ["run", "-q"], ["send", "http://127.0.0.1:1/"]] {
      let result = try await Command.run(Tool.path, command + ["-c", configuration])
      #expect(result.ending == .exited(3), "\(command): \(result.ending) \(result.errorText)")
      #expect(result.outputText.isEmpty)
      for part in [words, "\(configuration):2: plugins.broken", "plugin \"broken\"", "libx.so"] {
        #expect(result.errorText.contains(part), "no \"\(part)\" in \(result.errorText)")
      }
    }
  }

  @Test(arguments: [("ACTIVATE=abort()", "SIGABRT"), ("ACTIVATE=exit(0)", "status 0")])
  func `check reports a plugin that ends its process in activate, although the trials do not call activate`(
    _ define: String, _ words: String
  ) async throws {
    let folder = try TemporaryDirectory()
    let product = try await PluginCompiler.compile("activate-misbehaves", defines: [define])
    let path = try folder.write(try FileTree.read(product.path), to: "libx.so")
    chmod(path, 0o755)
    let file = try folder.write(#"{"plugins": {"broken": {"library": "libx.so"}}}"#, to: "c.json")
    let result = try await Tool.run("check", "-c", file)
    #expect(result.ending == .exited(3), "\(result.ending) \(result.errorText)")
    for part in [words, "while the engine was starting", file] {
      #expect(result.errorText.contains(part), "no \"\(part)\" in \(result.errorText)")
    }
    let verdict = try #require(try await Tool.run("check", "--json", "-c", file).documents.first)
    #expect(verdict["ok"]?.bool == false)
  }

  @Test func `check reads its configuration once, so it can come from a pipe`() async throws {
    let folder = try TemporaryDirectory()
    let library = BuiltProducts.library("bearer-auth")
    let text =
      "{\"store\": \"\(folder.path("store"))\", \"plugins\": {\"a\": {\"library\": \"\(library)\", "
      + "\"config\": {\"token\": \"t\", \"hosts\": [\"example.com\"]}}}}"
    let result = try await Tool.run("check", "-c", "/dev/stdin", input: text)
    #expect(result.status == 0, "\(result.errorText)")
  }

  @Test(arguments: [["check"], ["run", "-q"], ["send", "http://127.0.0.1:1/"]])
  func `the command ends with status 2 for a missing library, and names file, key and path`(
    _ command: [String]
  ) async throws {
    let folder = try TemporaryDirectory()
    let configuration = try folder.write("{\"plugins\":\n  {\"gone\": {\"library\": \"none/libx.so\"}}}", to: "c.json")
    let result = try await Command.run(Tool.path, command + ["-c", configuration])
    #expect(result.status == 2)
    #expect(result.outputText.isEmpty)
    for part in ["\(configuration):2: plugins.gone: ", folder.path("none/libx.so"), "check the key \"library\""] {
      #expect(result.errorText.contains(part), "no \"\(part)\" in \(result.errorText)")
    }
  }

  private static func place(_ given: Case, in folder: String) async throws {
    var flags: [String] = []
    var helper: PluginCompiler.Product?
    if case .linked(let other) = given.change {
      let product = try await PluginCompiler.compile(other)
      flags = ["-Wl,--no-as-needed", product.path]
      helper = product
    }
    let product = try await PluginCompiler.compile(given.fixture, defines: given.defines, flags: flags)
    try withExtendedLifetime((product, helper)) {
      let path = "\(folder)/libx.so"
      try write(changed(try FileTree.read(product.path), given.change), to: path)
      chmod(path, 0o755)
      if case .inOpenFolder = given.change { chmod(folder, 0o777) }
    }
  }

  private static func changed(_ bytes: [UInt8], _ change: Case.Change) -> [UInt8] {
    switch change {
    case .none, .inOpenFolder, .linked: return bytes
    case .empty: return []
    case .text: return Array("#!/bin/sh\necho no plugin\n".utf8)
    case .truncated(let thousandths): return Array(bytes.prefix(bytes.count * thousandths / 1000))
    case .otherMachine:
      var changed = bytes
      // The ELF field e_machine: AArch64, or x86-64 if this machine is an AArch64.
      changed[18] = bytes[18] == 183 ? 62 : 183
      return changed
    }
  }

  private static func write(_ bytes: [UInt8], to path: String) throws {
    let file = FileDescriptor(adopting: open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o755))
    try file.write(bytes)
  }
}
