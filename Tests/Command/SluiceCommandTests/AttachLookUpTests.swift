import Glibc
import SluiceServer
import SluiceTestKit
import Testing

/// Programs that look libcurl's functions up at run time.
@Suite(.enabled(if: !Sanitizer.isOn)) struct AttachLookUpTests {
  private static let libcurl = "libcurl.so.4"
  private static let failing = String(AttachedComparison.tracing.dropLast() + #", "attach": {"onMissing": "fail"}}"#)
  /// The path of the libcurl that uses GnuTLS, or nil if it is not installed.
  private static let other: String? = ["x86_64", "aarch64"].map { "/usr/lib/\($0)-linux-gnu/libcurl-gnutls.so.4" }
    .first { access($0, R_OK) == 0 }

  private static func run(
    _ mode: String, _ libraries: [String] = [libcurl], environment: [String: String?] = [:], setUp: String? = nil,
    configuration: String = AttachedComparison.tracing
  ) async throws -> AttachedComparison {
    let program = try await ForeignProgram.compile("looked_up", [])
    return try await AttachedComparison.run(
      { [program.path, mode, $0] + libraries }, configuration: configuration, environment: environment, setUp: setUp)
  }

  @Test(arguments: [
    "local", "local:CURL_OPENSSL_4", "default", "default:CURL_OPENSSL_4", "program", "libc", "libc:CURL_OPENSSL_4",
  ])
  func `functions that a program looks up reach the pipeline`(_ mode: String) async throws {
    let runs = try await Self.run(mode)
    runs.expectSameButTraced()
    #expect(runs.attachedRequests.count == 1)
  }

  @Test(.enabled(if: other != nil))
  func `functions of two libcurls that one part of a program looks up are told apart`() async throws {
    let runs = try await Self.run("local", [Self.libcurl, try #require(Self.other), Self.libcurl])
    runs.expectSameButTraced()
    #expect(runs.attached.outputText.matches(of: /GnuTLS/).count == 1)
  }

  /// Copies the system's libcurl.
  private static func copy(to path: String) async throws {
    let program = try await ForeignProgram.compile("looked_up", ["-Wl,--no-as-needed", "-lcurl"])
    let found = try await Command.check("ldd", [program.path]).outputText.split(separator: "\n")
      .first { $0.contains("libcurl.so.4 => ") }?.split(separator: " ").dropFirst(2).first
    try await Command.check("cp", [String(try #require(found)), path])
  }

  @Test func `a libcurl is recognized under another file name`() async throws {
    let folder = try TemporaryDirectory()
    try await Self.copy(to: folder.path("renamed.so"))
    try await Self.run("local", [folder.path("renamed.so")]).expectSameButTraced()
  }

  @Test func `a ninth copy of libcurl is counted, and sends nothing if the pipeline is required`() async throws {
    let folder = try TemporaryDirectory()
    let copies = (1...9).map { folder.path("libcurl-\($0).so") }
    for copy in copies { try await Self.copy(to: copy) }
    let runs = try await Self.run("local", copies)
    runs.expectSame()
    #expect(runs.isTraced == Array(repeating: true, count: 8) + [false])
    #expect(runs.passed.count == 1 && runs.passed[0].hasPrefix("1 transfer went without"), "\(runs.passed)")
    #expect(runs.attached.errorText.contains("more than eight copies of libcurl"))
    let failing = try await Self.run("local", copies, configuration: Self.failing)
    #expect(failing.isTraced == Array(repeating: true, count: 8))
    #expect(failing.attached.outputText.contains("=> 42"))
    #expect(failing.passed.count == 1 && failing.passed[0].hasPrefix("1 transfer failed"), "\(failing.passed)")
  }

  @Test(arguments: ["default", "program"])
  func `a program without libcurl finds none`(_ mode: String) async throws {
    let runs = try await Self.run(mode, [])
    runs.expectSame()
    #expect(runs.attached.outputText == "nothing\n")
  }

  @Test func `a libcurl in a namespace of its own works, and its transfers are counted`() async throws {
    try await Self.run("namespace").expectSameAndPassed(1, "the program has opened libcurl with dlmopen")
  }

  @Test func `a libcurl in a namespace of its own sends nothing if the pipeline is required`() async throws {
    let runs = try await Self.run("namespace", configuration: Self.failing)
    #expect(runs.attachedRequests.isEmpty)
    #expect(runs.attached.outputText.hasPrefix("=> 42"))
  }

  @Test func `another preloaded library can have a dlsym of its own, before or after Sluice's`() async throws {
    let other = try await ForeignProgram.compileLibrary("own_dlsym", [])
    let after = try await Self.run("local", environment: ["LD_PRELOAD": other.path])
    after.expectSameButTraced()
    #expect(after.attached.outputText.hasPrefix("asked for curl_easy_perform\n"))
    let before = try await Self.run("local", setUp: "export LD_PRELOAD=\(other.path):$LD_PRELOAD")
    #expect(before.attached.outputText == after.attached.outputText)
    #expect(before.tracedCount == 1)
  }

  @Test func `a library between a program and libcurl finds what comes after it`() async throws {
    let between = try await ForeignProgram.compileLibrary("looks_next", [])
    let program = try await ForeignProgram.compile("reused", ["-Wl,--no-as-needed", between.path, "-lcurl"])
    let runs = try await AttachedComparison.run { [program.path, $0] }
    runs.expectSameButTraced()
    #expect(runs.attachedRequests.allSatisfy { $0.headers.first("user-agent") == "between" })
  }

  @Test func `a library that looks libcurl up in its constructor is reached`() async throws {
    let early = try await ForeignProgram.compileLibrary("early_look_up", [])
    let program = try await ForeignProgram.compile("greeting", ["-Wl,--no-as-needed", early.path])
    let runs = try await AttachedComparison.run { ["env", "EARLY_URL=\($0)/early", program.path] }
    runs.expectSameButTraced()
    #expect(runs.attached.outputText.contains("early: 0"))
  }

  private static let ctypes = """
    import ctypes, sys
    curl = ctypes.CDLL('libcurl.so.4')
    curl.curl_easy_init.restype = ctypes.c_void_p
    easy = ctypes.c_void_p(curl.curl_easy_init())
    curl.curl_easy_setopt(easy, 10002, sys.argv[1].encode())
    print(curl.curl_easy_perform(easy), flush=True)
    curl.curl_easy_cleanup(easy)
    """

  @Test func `the pipeline reaches Python's ctypes`() async throws {
    let runs = try await AttachedComparison.run { ["/usr/bin/python3", "-c", Self.ctypes, "\($0)/ctypes"] }
    runs.expectSameButTraced()
    #expect(runs.attachedRequests.count == 1)
  }
}
