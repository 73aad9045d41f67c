import SluiceTestKit
import Testing

@testable import SluiceAssembly

/// Libraries that a configuration gives by the name of an installed plugin instead of by a path.
@Suite struct InstalledPluginTests {
  private let prefix: TemporaryDirectory
  private let plugins: InstalledPlugins

  /// Makes an installation with the plugins `alpha` and `beta-2`, and with files that are not plugins.
  init() throws {
    prefix = try TemporaryDirectory()
    for folder in ["lib", "lib/sluice", "lib/sluice/plugins", "conf"] { try prefix.makeFolder(folder) }
    for name in ["libalpha.so", "libbeta-2.so", "libUPPER.so", "lib..so", "gamma.so", "libdelta.so.1"] {
      try prefix.write("", to: "lib/sluice/plugins/\(name)")
    }
    plugins = InstalledPlugins(in: prefix.path("lib/sluice/plugins"))
  }

  private func library(_ name: String, _ plugins: InstalledPlugins? = nil) throws -> String? {
    let text = "{\n \"plugins\": {\"a\": {\"library\": \"\(name)\"}}}"
    return try Configuration(
      text: Array(text.utf8), file: prefix.path("conf/c.json"), installedPlugins: plugins ?? self.plugins
    ).libraries.first
  }

  private func error(_ name: String, _ plugins: InstalledPlugins? = nil) -> String {
    do { return "no error: \(try library(name, plugins) ?? "none")" } catch { return "\(error)" }
  }

  @Test func `a name refers to the library of the installed plugin`() throws {
    #expect(try library("alpha") == prefix.path("lib/sluice/plugins/libalpha.so"))
    #expect(try library("beta-2") == prefix.path("lib/sluice/plugins/libbeta-2.so"))
    #expect(plugins.names == ["alpha", "beta-2"])
  }

  @Test(arguments: ["alpha.so", "./alpha", "alpha/", "../alpha", ".so", "a/b"])
  func `a text with a slash or the ending .so is a path relative to the configuration file`(_ path: String) throws {
    #expect(try library(path) == prefix.path("conf/\(path)"))
    #expect(try library("/x/alpha") == "/x/alpha")
  }

  @Test(arguments: [
    "", ".", "..", "...", "Alpha", "UPPER", "al pha", " alpha", "alpha ", "alpha\\n", "alpha\\t", "al_pha", "-alpha",
    "alpha-", "al--pha", "2alpha", "alpha.so.1", "alpha.SO", "alphä", "al‐pha", "..\\\\alpha", "$ORIGIN", "%2e%2e", "~",
    "~root", "alpha;x", "*", "libalpha.so ",
  ])
  func `an invalid name is refused without a look-up`(_ name: String) {
    let error = error(name)
    #expect(error.hasPrefix("\(prefix.path("conf/c.json")):2: plugins.a.library: "), "\(error)")
    #expect(error.contains(" is neither the path of a library"), "\(error)")
  }

  @Test func `a name with a NUL character is refused, whatever its source`() {
    #expect(error("alpha\\u0000/../../x").contains("not JSON"))
    #expect(throws: ConfigurationError.self) { try plugins.path(of: "alpha\0") }
    #expect(throws: ConfigurationError.self) { try plugins.path(of: "\0") }
    #expect(throws: ConfigurationError.self) { try InstalledPlugins(in: "/\0/x").path(of: "alpha") }
  }

  /// `/` followed by a combining character is one `Character` in Swift, but the kernel still sees a `/`.
  @Test func `a slash followed by a combining character counts as a slash`() throws {
    #expect(!InstalledPlugins.isName("..\u{2F}\u{338}alpha"))
    #expect(throws: ConfigurationError.self) { try plugins.path(of: "..\u{2F}\u{338}alpha") }
    #expect(throws: ConfigurationError.self) { try plugins.path(of: "alpha\u{301}") }
  }

  @Test func `a name can have at most 64 characters`() throws {
    let longest = String(repeating: "a", count: 64)
    try prefix.write("", to: "lib/sluice/plugins/lib\(longest).so")
    #expect(try library(longest) != nil)
    #expect(error(longest + "a").contains("is neither the path"))
  }

  @Test func `the error for a plugin that is not installed names the folder and its content`() {
    #expect(
      error("gamma") == "\(prefix.path("conf/c.json")):2: plugins.a.library: no plugin \"gamma\" is installed in "
        + "\(prefix.path("lib/sluice/plugins")), which has alpha, beta-2; for a file, write its path, such as "
        + "\"./libgamma.so\"")
    #expect(
      error("alpha", InstalledPlugins(in: prefix.path("conf"))).contains("\(prefix.path("conf")), which has none;"))
    #expect(error("alpha", InstalledPlugins(in: "/nowhere")).contains("installed in /nowhere, which does not exist;"))
  }

  @Test(arguments: ["", ".", "lib/sluice/plugins", "~/lib"])
  func `if the path of the folder is not absolute, no plugin in the folder is found`(_ folder: String) {
    #expect(InstalledPlugins(in: folder).folder == nil)
    #expect(error("alpha", InstalledPlugins(in: folder)).contains("is not absolute; for a file"))
  }

  @Test(arguments: [
    ("/usr/bin/sluice", "/usr/lib/sluice/plugins"), ("/bin/sluice", "/lib/sluice/plugins"),
    ("/opt/a b/bin/my program", "/opt/a b/lib/sluice/plugins"), ("/home/me/.build/release/sluice", nil),
    ("/sluice", nil), ("/usr/binaries/sluice", nil), ("/usr/bin/sub/sluice", nil), ("", nil), (nil, nil),
  ])
  func `a program in the folder bin of a prefix finds the plugins of that prefix`(
    _ program: String?, _ folder: String?
  ) {
    #expect(InstalledPlugins(program: program).folder == folder)
  }

  @Test func `a program that is not installed refuses every name and says so`() {
    #expect(
      error("alpha", InstalledPlugins(program: "/home/me/.build/release/sluice")).hasSuffix(
        "plugins.a.library: no installed plugin \"alpha\" can be found: this program, /home/me/.build/release/sluice, is "
          + "not installed in a folder \"bin\"; for a file, write its path, such as \"./libalpha.so\""))
    #expect(error("alpha", .ofThisProgram).contains("is not installed in a folder \"bin\""))
  }

  @Test func `an installed plugin with the key build is refused`() {
    let text = #"{"plugins": {"a": {"library": "alpha", "build": {"folder": "a"}}}}"#
    #expect {
      _ = try Configuration(text: Array(text.utf8), installedPlugins: plugins)
    } throws: {
      "\($0)".contains("plugins.a.build: an installed plugin is not built; leave the key out")
    }
  }

  @Test func `a configuration remembers where its names were looked up`() throws {
    #expect(try Configuration(text: Array("{}".utf8), installedPlugins: plugins).installedPlugins == plugins)
    #expect(Configuration().installedPlugins == .ofThisProgram)
  }
}
