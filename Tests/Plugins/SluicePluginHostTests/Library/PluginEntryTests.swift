import CSluice
import SluiceTestKit
import Testing

@testable import SluicePluginHost

struct PluginEntryTests {
  private let fixture: LibraryFixture

  init() throws { fixture = try LibraryFixture() }

  private func entryError(_ behaviour: String, defines: [String]) async throws -> PluginError? {
    let product = try await PluginCompiler.compile(behaviour, defines: defines)
    do {
      _ = try await fixture.generation(of: product.path)
      return nil
    } catch let error as PluginError {
      return error
    }
  }

  @Test func `a generation has the values of the plugin's table`() async throws {
    let product = try await PluginCompiler.compile("minimal")
    let generation = try await fixture.generation(of: product.path)
    #expect(generation.id == "fixture")
    #expect(generation.version == "1.0.0")
    #expect(generation.summary == "A fixture.")
    #expect(generation.configurationSchema == "{}")
    #expect(generation.path == product.path)
    let hash = try #require(generation.hash)
    #expect(hash == generation.facts?.hash)
  }

  @Test func `an entry point that returns NULL is reported with its own message`() async throws {
    let error = try await entryError("entry-returns-null", defines: ["MESSAGE=\"needs a\\nmoon\""])
    #expect(error?.code == .entryFailed)
    #expect(error?.reason == "needs a moon")
  }

  @Test func `an entry point that returns NULL without a message is reported`() async throws {
    let error = try await entryError("entry-returns-null", defines: [])
    #expect(error?.says("returned NULL without a message") == true)
  }

  @Test(arguments: [
    ("SIZE=16", "says that it is 16 bytes long"), ("ABI=2", "is for ABI 2, but the host asked for at most 1"),
    ("ABI=0", "is for ABI 0"), ("ID=NULL", "has no id"), ("ID=\"\"", "has an empty id"),
    ("ID=\"a b\"", "has the id \"a b\""), ("SUMMARY=NULL", "has no summary"),
    ("VERSION=\"1.4\"", "has the version \"1.4\", which is not a semantic version"),
    ("SUMMARY=\"\\xff\"", "has a summary that is not UTF-8"),
    ("SUMMARY=\"a\\nb\"", "has a summary with control characters"), ("CREATE=NULL", "has no create"),
  ])
  func `a table with a bad member is refused, and the error names the member`(
    define: String, words: String
  ) async throws {
    let name = define.prefix { $0 != "=" }
    let good = [
      "SIZE=sizeof(sluice_plugin)", "ABI=1", "ID=\"a\"", "SUMMARY=\"s\"", "VERSION=\"1.0.0\"", "CREATE=fixture_create",
    ].filter { !$0.hasPrefix("\(name)=") }
    let error = try await entryError("bad-table", defines: good + [define])
    #expect(error?.code == .invalidTable)
    #expect(error?.says("sluice_plugin", words) == true, "\(String(describing: error))")
  }

  @Test func `a table without its required members is refused, but a missing table is allowed`() async throws {
    let product = try await PluginCompiler.compile("extensions")
    let generation = try await fixture.generation(of: product.path)
    let body = #expect(throws: PluginError.self) { _ = try generation.body() }
    #expect(body?.says("\"sluice.body/1\"", "has no on_chunk") == true)
    #expect(try generation.state() == nil)
    #expect(try generation.selftest() == nil)
  }
}
