import SluiceJSON
import SluiceTestKit
import Testing

/// `sluice plugin inspect`.
@Suite struct InspectTests {
  @Test func `a plugin's facts are shown, and no code of it runs`() async throws {
    let path = BuiltProducts.library("bearer-auth")
    let text = try await Tool.run("plugin", "inspect", path)
    #expect(text.status == 0)
    for part in ["usable", "libjansson.so.4", "ABI", "SHA-256"] { #expect(text.outputText.contains(part)) }
    let document = try #require(try await Tool.run("plugin", "inspect", "--json", path).documents.first)
    #expect(document["usable"]?.bool == true)
    #expect(document["language"]?.string == "C")
    #expect(document["abi"]?[0]?.integer == 1)
  }

  @Test func `what is no plugin ends with 3, and what is not there with 2`() async throws {
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
}
