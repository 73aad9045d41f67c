import SluiceTestKit
import Testing

@testable import SluiceCommand

/// Which libraries the two libraries of `sluice attach` need, and which symbols they export.
@Suite(.enabled(if: !Sanitizer.isOn)) struct AttachLibraryTests {
  private static func needed(_ library: String) async throws -> [String] {
    try await Command.check("readelf", ["-dW", BuiltProducts.library(library)]).outputText.split(separator: "\n")
      .filter { $0.contains("(NEEDED)") }
      .compactMap { line in line.split(separator: "[").last?.split(separator: "]").first.map(String.init) }
  }

  private static func exported(_ library: String) async throws -> Set<String> {
    let text = try await Command.check("nm", ["-D", "--defined-only", BuiltProducts.library(library)]).outputText
    // The linker adds these three symbols to each shared object.
    return Set(text.split(separator: "\n").compactMap { $0.split(separator: " ").last.map(String.init) })
      .subtracting(["__bss_start", "_edata", "_end"])
  }

  @Test func `the preloaded library needs only libc, and exports only the functions that it replaces`()
    async throws
  {
    // The loader is a part of libc.
    #expect(try await Self.needed("sluice-attach").filter { !$0.hasPrefix("ld-linux") } == ["libc.so.6"])
    #expect(
      try await Self.exported("sluice-attach") == [
        "curl_easy_init", "curl_easy_setopt", "curl_easy_perform", "curl_easy_reset", "curl_easy_duphandle",
        "curl_easy_cleanup", "curl_multi_add_handle", "curl_multi_remove_handle", "curl_multi_info_read",
        "curl_multi_cleanup", "curl_easy_pause", "curl_multi_init", "curl_multi_setopt", "curl_multi_perform",
        "curl_multi_socket", "curl_multi_socket_action", "curl_multi_socket_all", "curl_multi_poll", "curl_multi_wait",
        "curl_multi_timeout", "curl_global_init_mem", "dlmopen", "dlopen", "dlsym", "dlvsym",
        "__asan_default_options", "__tsan_default_suppressions",
      ])
  }

  @Test func `the host library contains what it needs of Swift and libcurl, and exports one function`() async throws {
    let needed = try await Self.needed("sluice-attach-host")
    for name in ["libcurl", "libelf", "libcrypto", "libssl", "libstdc++", "libgcc_s", "libswift", "libFoundation"] {
      #expect(!needed.contains { $0.hasPrefix(name) })
    }
    #expect(try await Self.exported("sluice-attach-host") == ["sluice_attach_host"])
  }

  @Test(arguments: ["a b", "a:b"])
  func `a folder whose path the loader would read as several paths is refused`(name: String) throws {
    let folder = try TemporaryDirectory()
    for inner in ["plain", name] {
      try folder.makeFolder(inner)
      for library in ["attach", "attach-host"] { try folder.write("", to: "\(inner)/libsluice-\(library).so") }
    }
    let plain = try AttachLibraries.found(in: [folder.path("nowhere"), folder.path("plain")])
    #expect(plain.preload == folder.path("plain/libsluice-attach.so"))
    // Glibc's loader resolves this name, and musl's ignores it.
    #expect(plain.preloadName == "/usr/$LIB/../../../../../../../..\(plain.preload)")
    let error = #expect(throws: CommandError.self) { try AttachLibraries.found(in: [folder.path(name)]) }
    #expect(error?.message.contains("cannot preload a library whose path has a space or a colon") == true)
  }
}
