import SluicePluginFile
import SluicePluginHost
import SluiceTestKit
import Testing

/// The command and the libraries that other tests run.
@Suite struct BuiltProductsTests {
  @Test func `the built products are found`() {
    #expect(FileTree.exists(BuiltProducts.library("bearer-auth")))
    #expect(FileTree.exists(BuiltProducts.executable("sluice")))
  }

  @Test func `a plugin in Swift uses the shared runtime, or its own if it was linked statically`() throws {
    for (product, runtime) in [("sleeps-in-swift", LibraryFacts.SwiftRuntime.shared), ("sleeps-statically", .own)] {
      let facts = try Preflight.facts(of: LibraryImage(reading: BuiltProducts.library(product)))
      #expect(facts.swiftRuntime == runtime)
      #expect(facts.needed.contains("libjansson.so.4"))
      #expect(facts.needed.contains("libswiftCore.so") == (runtime == .shared))
    }
  }
}
