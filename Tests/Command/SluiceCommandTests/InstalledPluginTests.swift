import Glibc
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// Plugins that are given by name. The command is in `PREFIX/bin`. The working folder contains traps: libraries with
/// the same names that must not be loaded.
@Suite struct InstalledPluginTests {
  private let folder: TemporaryDirectory
  private let command: String
  /// The path of a file that the code of a trap creates.
  private let mark: String

  /// Installs `static-headers`, and writes traps into the working folder: some with this name, some with a name that is
  /// not installed.
  init() async throws {
    folder = try TemporaryDirectory()
    for name in ["bin", "lib", "lib/sluice", "lib/sluice/plugins", "work", "work/plugins"] {
      try folder.makeFolder(name)
    }
    (command, mark) = (folder.path("bin/sluice"), folder.path("trapped"))
    // If the folder is on another file system, the command is copied.
    if link(Tool.path, command) != 0 { try await Command.check("cp", [Tool.path, command]) }
    try await Command.check(
      "install", ["-m", "755", BuiltProducts.library("static-headers"), folder.path("lib/sluice/plugins")])
    let trap = try await PluginCompiler.compile(
      source: """
        #include <fcntl.h>
        #include <sluice/sluice.h>
        __attribute__((constructor)) static void loaded(void) { open("\(mark)", O_CREAT | O_WRONLY, 0600); }
        SLUICE_PLUGIN("trap", "1.0.0", SLUICE_UNCONFIGURED);
        """, name: "trap")
    for name in ["static-headers", "missing"] {
      for file in [name, "\(name).so", "lib\(name).so", "lib\(name)"] {
        for place in ["work", "work/plugins"] {
          try await Command.check("install", ["-m", "755", trap.path, folder.path("\(place)/\(file)")])
        }
      }
    }
  }

  private var isTrapped: Bool { access(mark, F_OK) == 0 }

  /// Runs a command in the working folder. Every search variable of the loader and of the shell also names the working
  /// folder.
  private func run(_ arguments: String..., as command: String? = nil) async throws -> CommandResult {
    var environment = Tool.cleared
    for name in ["LD_LIBRARY_PATH", "PATH", "PREFIX", "SLUICE_PLUGINS"] {
      let before = name == "PATH" || name == "LD_LIBRARY_PATH" ? getenv(name).map { ":\(String(cString: $0))" } : nil
      environment[name] = "\(folder.path("work")):\(folder.path("work/plugins"))" + (before ?? "")
    }
    return try await Command.run(
      command ?? self.command, arguments, environment: environment, workingDirectory: folder.path("work"))
  }

  private func configure(_ library: String) throws {
    try folder.write(
      """
      {"plugins": {"fixed": {"library": "\(library)", "config": {"request": {"x-team": "core"}}}},
       "request": ["fixed"], "store": "../store"}
      """, to: "work/c.json")
  }

  @Test func `a name selects the installed library, even if other files have the same name`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    try configure("static-headers")
    let check = try await run("check", "-c", "c.json")
    #expect(check.status == 0, "\(check.errorText)")
    let sent = try await run("send", "-c", "c.json", server.baseURL)
    #expect(sent.status == 0, "\(sent.errorText)")
    let given = try await run(
      "send", "--plugin", "static-headers={\"request\": {\"x-team\": \"core\"}}", server.baseURL)
    #expect(given.status == 0, "\(given.errorText)")
    #expect(server.requests.map { $0.headers.first("x-team") } == ["core", "core"])
    let facts = try await run("plugin", "inspect", "static-headers")
    #expect(facts.outputText.hasPrefix("\(folder.path("lib/sluice/plugins/libstatic-headers.so"))\n"))
    #expect(!isTrapped)
  }

  @Test func `a command that is started through a symbolic link has the same installed plugins`() async throws {
    let other = try TemporaryDirectory()
    try other.makeFolder("bin")
    symlink(command, other.path("bin/sluice"))
    try configure("static-headers")
    let check = try await run("check", "-c", "c.json", as: other.path("bin/sluice"))
    #expect(check.status == 0, "\(check.errorText)")
  }

  @Test func `a name that is not installed is refused, even if the working folder has such a file`() async throws {
    try configure("missing")
    let words = "no plugin \"missing\" is installed in \(folder.path("lib/sluice/plugins")), which has static-headers;"
    let results = [
      try await run("check", "-c", "c.json"), try await run("run", "-c", "c.json"),
      try await run("send", "-c", "c.json", "http://127.0.0.1:1/"),
      try await run("send", "--plugin", "missing", "http://127.0.0.1:1/"),
      try await run("plugin", "inspect", "missing"), try await run("plugin", "validate", "missing"),
    ]
    for result in results {
      #expect(result.status == 2)
      #expect(result.errorText.contains(words), "\(result.errorText)")
    }
    #expect(!isTrapped)
  }

  @Test(arguments: ["..", "", "Missing", "mis sing", "missing.so.1", "libmissing"])
  func `a text that is neither a path nor the name of a plugin is refused`(_ library: String) async throws {
    try configure(library)
    let result = try await run("check", "-c", "c.json")
    #expect(result.status == 2)
    let isName = library == "libmissing"
    #expect(
      result.errorText.contains(isName ? "no plugin \"libmissing\" is installed" : "is neither the path of a library"))
    #expect(!isTrapped)
  }

  @Test func `a trap that is given by its path is loaded, so the traps work`() async throws {
    try configure("./libmissing.so")
    _ = try await run("check", "-c", "c.json")
    #expect(isTrapped)
  }

  @Test func `a command in a build folder reports that it has no installed plugins`() async throws {
    try configure("static-headers")
    let result = try await run("check", "-c", "c.json", as: Tool.path)
    #expect(result.status == 2)
    #expect(result.errorText.contains("is not installed in a folder \"bin\""), "\(result.errorText)")
    #expect(!isTrapped)
  }

  /// Disabled under a sanitizer: the host library then needs the sanitizer's runtime, which the programs do not have.
  @Test(.enabled(if: !Sanitizer.isOn))
  func `a program under attach uses the command's installed plugins, wherever the program is`() async throws {
    for name in ["sluice-attach", "sluice-attach-host"] {
      try await Command.check("install", ["-m", "755", BuiltProducts.library(name), folder.path("lib/sluice")])
    }
    let program = try await ForeignProgram.compile("reused")
    let server = try LoopbackServer()
    try configure("static-headers")
    let result = try await run("attach", "-c", "c.json", "--", program.path, server.baseURL)
    #expect(result.ending == .exited(0), "\(result.errorText)")
    #expect(result.errorText == "")
    #expect(!server.requests.isEmpty)
    #expect(server.requests.allSatisfy { $0.headers.first("x-team") == "core" })
  }
}
