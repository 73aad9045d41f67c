import Glibc
import SluiceServer
import SluiceTestKit
import Testing

/// Programs that use libcurl in many ways behave the same with and without `sluice attach`.
///
/// Disabled under a sanitizer: the sanitizer's runtime would have to be in the program itself.
@Suite(.enabled(if: !Sanitizer.isOn)) struct AttachTransparencyTests {
  /// The path of the libcurl that uses GnuTLS, or nil if it is not installed.
  private static let other: String? = ["x86_64", "aarch64"].map { "/usr/lib/\($0)-linux-gnu/libcurl-gnutls.so.4" }
    .first { access($0, R_OK) == 0 }
  private static let jemalloc: String? = ["x86_64", "aarch64"].map { "/usr/lib/\($0)-linux-gnu/libjemalloc.so.2" }
    .first { access($0, R_OK) == 0 }

  @Test(arguments: [
    "reused", "duplicated", "pre_request", "urls", "bodies", "sockets", "passed_on", "callbacks", "errors",
  ])
  func `a program sees no difference, and each of its requests is traced`(_ name: String) async throws {
    let program = try await ForeignProgram.compile(name)
    try await AttachedComparison.run { [program.path, $0] }.expectSameButTraced()
  }

  @Test func `transfers that a program drops are ended, and its handles stay usable`() async throws {
    let program = try await ForeignProgram.compile("early_ends")
    let runs = try await AttachedComparison.run { [program.path, $0] }
    #expect(runs.attached.outputText == runs.plain.outputText)
    #expect(runs.attached.ending == runs.plain.ending)
    // A dropped request can reach the server at any time, so that even a request of the previous run can arrive late.
    // The test therefore checks only `/again`.
    let again = runs.attachedRequests.filter { $0.path == "/again" }
    #expect(again.count == 4)
    #expect(again.allSatisfy { $0.headers.first("traceparent") != nil })
    #expect(runs.passed.isEmpty)
  }

  @Test func `a transfer that only opens a connection for the program bypasses the pipeline`() async throws {
    let program = try await ForeignProgram.compile("connection_only")
    let runs = try await AttachedComparison.run { [program.path, $0] }
    runs.expectSame()
    #expect(runs.tracedCount == 0)
    #expect(runs.passed.isEmpty)
  }

  @Test(.enabled(if: other != nil), arguments: ["local", "deep", "global"])
  func `two modules of a process can use two different libcurls`(_ mode: String) async throws {
    let program = try await ForeignProgram.compile("flavours", [])
    let first = try await ForeignProgram.compileLibrary("module")
    let second = try await ForeignProgram.compileLibrary("module", [try #require(Self.other)])
    let runs = try await AttachedComparison.run { [program.path, mode, $0, first.path, second.path] }
    runs.expectSameButTraced()
    #expect(mode == "global" || runs.attached.outputText.contains("GnuTLS 0"))
    #expect(runs.attached.outputText.contains("OpenSSL 0"))
  }

  @Test func `a module that is not linked with libcurl itself uses the libcurl of a library that it needs`()
    async throws
  {
    let program = try await ForeignProgram.compile("flavours", [])
    let between = try await ForeignProgram.compileLibrary("between", ["-Wl,--no-as-needed", "-lcurl"])
    let module = try await ForeignProgram.compileLibrary(
      "module", ["-Wl,--no-as-needed", between.path, "-Wl,--unresolved-symbols=ignore-all"])
    try await AttachedComparison.run { [program.path, "local", $0, module.path] }.expectSameButTraced()
  }

  @Test func `functions that a program looks up in its own copy of libcurl bypass the pipeline`() async throws {
    let program = try await ForeignProgram.compile("looked_up", [])
    let runs = try await AttachedComparison.run { [program.path, $0] }
    runs.expectSame()
    #expect(runs.tracedCount == 0)
  }

  @Test func `another preloaded library is called too, whether it comes before or after Sluice's`() async throws {
    let program = try await ForeignProgram.compile("reused")
    let other = try await ForeignProgram.compileLibrary("other_preload", [])
    let after = try await AttachedComparison.run(
      { [program.path, $0] }, environment: ["LD_PRELOAD": other.path])
    after.expectSameButTraced()
    #expect(after.attached.outputText.contains("the other library begins"))
    let before = try await AttachedComparison.run(
      { [program.path, $0] }, setUp: "export LD_PRELOAD=\(other.path):$LD_PRELOAD")
    #expect(before.attached.outputText == after.attached.outputText)
    #expect(before.tracedCount == before.attachedRequests.count)
  }

  @Test(.enabled(if: jemalloc != nil)) func `a program with another memory allocator works`() async throws {
    let program = try await ForeignProgram.compile("reused")
    let runs = try await AttachedComparison.run(
      { [program.path, $0] }, environment: ["LD_PRELOAD": Self.jemalloc])
    runs.expectSameButTraced()
  }

  @Test func `a program with the address sanitizer works`() async throws {
    let program = try await ForeignProgram.compile("reused", ["-fsanitize=address", "-lcurl"])
    try await AttachedComparison.run({ [program.path, $0] }, environment: ["ASAN_OPTIONS": nil]).expectSameButTraced()
  }

  @Test func `a static program works, and its exit status is the command's`() async throws {
    let program = try await ForeignProgram.compile("greeting", ["-static"])
    let runs = try await AttachedComparison.run { _ in [program.path] }
    runs.expectSame()
    #expect(runs.attached.ending == .exited(3))
    #expect(runs.passed.isEmpty)
  }
}
