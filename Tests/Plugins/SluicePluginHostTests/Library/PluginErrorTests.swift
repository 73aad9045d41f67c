import SluicePluginHost
import Testing

struct PluginErrorTests {
  @Test func `an error names plugin, path, reason and advice`() {
    let error = PluginError(
      .abiMismatch, .plugin(name: nil, path: "plugins/libretry.so"), "built for ABI 2, this host speaks ABI 1",
      advice: "rebuild it against this host's headers")
    #expect(
      error.named("retry").description == """
        plugin "retry" at plugins/libretry.so: built for ABI 2, this host speaks ABI 1; \
        rebuild it against this host's headers
        """)
    #expect(error.description.hasPrefix("library plugins/libretry.so: built"))
  }

  @Test func `a missing library does not count as a refusal, but an unacceptable library does`() {
    let subject = PluginError.Subject.plugin(name: "a", path: "a.so")
    #expect(!PluginError(.notFound, subject, "there is no such file").isRefusal)
    #expect(!PluginError(.configuration, subject, "no").isRefusal)
    #expect(!PluginError(.store, .store(path: "/x"), "no").isRefusal)
    #expect(PluginError(.truncated, subject, "is truncated").isRefusal)
  }

  @Test func `an error of the store names the configuration key`() {
    #expect(PluginError(.store, .store(path: "/x"), "no").description == "plugin store /x (key \"store\"): no")
  }
}
