import Glibc
import SluiceJSON
import SluiceTestKit
import Testing

/// `sluice plugin inspect`.
@Suite struct InspectTests {
  @Test func `a plugin's facts are shown, and none of its code runs`() async throws {
    let path = BuiltProducts.library("bearer-auth")
    let text = try await Tool.run("plugin", "inspect", path)
    #expect(text.status == 0)
    for part in ["usable", "libjansson.so.4", "ABI", "SHA-256"] { #expect(text.outputText.contains(part)) }
    let document = try #require(try await Tool.run("plugin", "inspect", "--json", path).documents.first)
    #expect(document["usable"]?.bool == true)
    #expect(document["language"]?.string == "C")
    #expect(document["abi"]?[0]?.integer == 1)
  }

  @Test func `inspect ends with status 3 for a file that is not a plugin, and with status 2 for a missing file`()
    async throws
  {
    let folder = try TemporaryDirectory()
    let path = try folder.write("plain text", to: "libx.so")
    let refused = try await Tool.run("plugin", "inspect", path)
    #expect(refused.status == 3)
    #expect(refused.errorText.contains(path))
    let missing = try await Tool.run("plugin", "inspect", folder.path("none.so"))
    #expect(missing.status == 2)
    let document = try #require(try await Tool.run("plugin", "inspect", "--json", path).documents.first)
    #expect(document["usable"]?.bool == false)
    #expect(document.errorCode == "not_elf")
  }

  /// Compiles a fixture and inspects it.
  private func inspect(_ behaviour: String, _ defines: [String] = []) async throws -> CommandResult {
    let product = try await PluginCompiler.compile(behaviour, defines: defines)
    chmod(product.path, 0o755)
    let result = try await Tool.run("plugin", "inspect", product.path)
    withExtendedLifetime(product) {}
    return result
  }

  @Test func `hazards for a later swap are named in plain words`() async throws {
    let unique = try await inspect("unique-symbol")
    #expect(unique.status == 0)
    #expect(unique.outputText.contains("keeps the variables of the first generation after a swap"))
  }

  @Test func `the Swift runtime of a library is shown, and a mixture of two runtimes is refused`() async throws {
    let own = try await inspect("own-swift-runtime")
    #expect(own.status == 0)
    #expect(own.outputText.contains("  Swift runtime  static\n"))
    let mixed = try await inspect("own-swift-runtime", ["EXPORTED"])
    #expect(mixed.status == 3)
    #expect(mixed.outputText.contains("  Swift runtime  mixed\n"))
    #expect(mixed.errorText.contains("sluice plugin build --static-stdlib"))
  }

  @Test(arguments: [
    (LibraryBytes.stack, "executableStack", "makes the stacks of the whole process executable"),
    (LibraryBytes.load, "writableCode", "has code that is writable while it can be run"),
  ])
  func `writable and executable memory is reported, and refused unless the configuration allows it`(
    _ segment: UInt64, _ hazard: String, _ words: String
  ) async throws {
    let folder = try TemporaryDirectory()
    let product = try await PluginCompiler.compile("minimal")
    var library = LibraryBytes(try FileTree.read(product.path))
    // Gives all access rights to the stack, or to the first segment.
    let place = try #require(library.segment(segment)?.flagsPlace)
    library.write(7, at: place, width: 4)
    let path = try folder.write(library.bytes, to: "libx.so")
    chmod(path, 0o755)
    let inspected = try await Tool.run("plugin", "inspect", path)
    #expect(inspected.status == 3)
    #expect(inspected.outputText.contains(words) && inspected.errorText.contains(words), "\(inspected.errorText)")
    let document = try #require(try await Tool.run("plugin", "inspect", "--json", path).documents.first)
    #expect(document["hazards"]?.elements.contains { $0.string == hazard } == true)
    #expect(document.errorCode == "unsafe_memory")
    let hazards = document["hazards"].map { "\($0)" } ?? "[]"
    for (allowed, status) in [("[]", Int32(3)), (hazards, 0)] {
      let file = try folder.write(
        "{\"plugins\": {\"x\": {\"library\": \"libx.so\", \"allow\": \(allowed)}}, \"request\": [\"x\"]}", to: "c.json")
      for command in [["check"], ["run", "-q"]] {
        let result = try await Command.run(Tool.path, command + ["-c", file])
        #expect(result.status == status, "\(command) \(allowed): \(result.errorText)")
        if status == 3 { #expect(result.errorText.contains("add \"allow\": [\"")) }
      }
    }
  }

  @Test func `a library that contains its own jansson is refused`() async throws {
    let result = try await inspect("own-jansson", ["LINKAGE="])
    #expect(result.status == 3)
    #expect(result.errorText.contains("carries its own jansson"))
  }

  @Test func `an entry point of a helper library is named with that library`() async throws {
    let folder = try TemporaryDirectory()
    let helper = try await PluginCompiler.compile("minimal", flags: ["-Wl,-soname,libhelper.so"])
    let helperPath = try folder.write(try FileTree.read(helper.path), to: "libhelper.so")
    let product = try await PluginCompiler.compile(
      "no-entry", flags: ["-Wl,--no-as-needed", helperPath, "-Wl,-rpath,$ORIGIN"])
    let path = try folder.write(try FileTree.read(product.path), to: "libplugin.so")
    chmod(path, 0o755)
    let result = try await Tool.run("plugin", "inspect", path)
    #expect(result.status == 3)
    #expect(
      result.errorText.contains("does not define sluice_plugin_entry itself, but needs libhelper.so, which defines it"))
    #expect(result.outputText.contains("needs libhelper.so from its own folder"))
  }

  @Test func `names in a library cannot control a terminal or begin a line`() async throws {
    let folder = try TemporaryDirectory()
    let name = "lib\u{1B}[2J\nsluice: x.so"
    let helper = try await PluginCompiler.compile("minimal", flags: ["-Wl,-soname,\(name)"])
    let helperPath = try folder.write(try FileTree.read(helper.path), to: name)
    let product = try await PluginCompiler.compile(
      "no-entry", flags: ["-Wl,--no-as-needed", helperPath, "-Wl,-rpath,$ORIGIN"])
    let path = try folder.write(try FileTree.read(product.path), to: "libplugin.so")
    chmod(path, 0o755)
    let result = try await Tool.run("plugin", "inspect", path)
    #expect(result.status == 3)
    let lines = result.outputText.split(separator: "\n")
    #expect(lines.contains { $0.hasPrefix("  libraries") && $0.contains(#"lib\u{1B}[2J sluice: x.so"#) })
    #expect(lines.allSatisfy { $0 == path || $0.hasPrefix("  ") })
    #expect(result.errorText.split(separator: "\n").count == 1)
    #expect(result.errorText.contains(#"lib\u{1B}[2J\nsluice: x.so, which defines it"#))
    let configuration = try folder.write(#"{"plugins": {"x": {"library": "libplugin.so"}}}"#, to: "c.json")
    for command in [["check"], ["run", "-q"]] {
      let refused = try await Command.run(Tool.path, command + ["-c", configuration])
      #expect(refused.status == 3)
      #expect(refused.errorText.contains(#"lib\u{1B}[2J\nsluice"#), "\(refused.errorText)")
      #expect(!refused.errorText.contains("\u{1B}"))
    }
  }

  @Test func `exports besides the entry point are counted and named`() async throws {
    let more = try await inspect("misbehaves-in-activity", ["EXPORTS_MORE"])
    #expect(more.status == 0)
    #expect(
      more.outputText.contains("warning        exports ") && more.outputText.contains("stray_symbol"),
      "\(more.outputText)")
    for name in ["bearer-auth", "oauth-refresh", "aws-sigv4"] {
      let own = try await Tool.run("plugin", "inspect", BuiltProducts.library(name))
      #expect(!own.outputText.contains("warning"), "\(own.outputText)")
    }
  }
}
