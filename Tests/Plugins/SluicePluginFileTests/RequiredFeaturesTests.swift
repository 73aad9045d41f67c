@testable import SluicePluginFile
import SluiceTestKit
import Testing

@testable import SluicePluginHost

struct RequiredFeaturesTests {
  private func fault(_ sections: [String]) -> String? {
    do throws(PluginNote.Malformed) {
      _ = try RequiredFeatures(sections: sections)
      return nil
    } catch { return error.reason }
  }

  @Test func `each section with the prefix is read as a feature, in order and without duplicates`() throws {
    let sections = [".text", ".sluice.requires.retry", ".sluice.requires.callout", "", ".sluice.requires.retry"]
    #expect(try RequiredFeatures(sections: sections).names == ["callout", "retry"])
    #expect(try RequiredFeatures(sections: [".text", ".sluice.other"]) == .none)
  }

  @Test(arguments: ["", "Retry", "request-body", "a b", "ä", "a\u{1B}[2J", String(repeating: "a", count: 65)])
  func `a section with a name that no feature can have is a fault`(_ name: String) throws {
    let reason = try #require(fault([".sluice.requires.\(name)"]))
    #expect(reason.contains("names no feature of a host"))
    #expect(reason.utf8.allSatisfy { $0 >= 0x20 })
  }

  @Test func `64 features are accepted, but one more is a fault`() throws {
    let sections = (0..<64).map { ".sluice.requires.f\($0)" }
    #expect(try RequiredFeatures(sections: sections + sections).names.count == 64)
    #expect(fault(sections + [".sluice.requires.more"]) == "it has more than 64 sections .sluice.requires.…")
  }

  @Test func `only features that a host does not offer are reported as missing`() throws {
    let required = try RequiredFeatures(sections: [".sluice.requires.retry", ".sluice.requires.frobnicate"])
    #expect(required.missing(from: .all) == ["frobnicate"])
    #expect(required.missing(from: []) == ["frobnicate", "retry"])
  }

  @Test func `the macro SLUICE_REQUIRES accepts the name of every feature of the host`() async throws {
    let names = HostFeatures.all.names
    let source = "#include <sluice/note.h>\n" + names.map { "SLUICE_REQUIRES(\($0));\n" }.joined()
    let product = try await PluginCompiler.compile(source: source, name: "requires-all")
    let facts = try withExtendedLifetime(product) { try LibraryFacts(of: LibraryImage(reading: product.path)) }
    #expect(names.count == 15)
    #expect(facts.requiredFeatures.names == names.sorted())
  }

  @Test func `a requirement remains in the library if the linker removes unused sections and symbols`() async throws {
    let facts = try await FixturePreflight.facts(
      "resumes-late", flags: ["-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections", "-s"])
    #expect(facts.requiredFeatures.names == ["suspend"])
  }

  @Test func `a section name of a million bytes is refused, and the error quotes only a part of it`() async throws {
    let name = String(repeating: "a", count: 1_000_000)
    let source = """
      __attribute__((section(".sluice.requires.\(name)"), used)) static const char much = 1;
      """
    let product = try await PluginCompiler.compile(source: source, name: "requires-much")
    let facts = try withExtendedLifetime(product) { try LibraryFacts(of: LibraryImage(reading: product.path)) }
    let fault = try #require(facts.noteFault)
    #expect(fault.contains("names no feature of a host") && fault.utf8.count < 1000)
  }
}
