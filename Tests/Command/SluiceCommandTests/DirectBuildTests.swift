import Glibc
import SluiceJSON
import SluiceTestKit
import Testing

/// `sluice plugin build --direct` of a package in Swift, with the compiler of this machine. The package does not use
/// the SDK, whose build would take minutes.
@Suite struct DirectBuildTests {
  private static let direct = "sluice: plugin build: the compiler was called directly"
  private static let package = "sluice: plugin build: the package is built: "

  private let folder: TemporaryDirectory

  init() throws {
    folder = try TemporaryDirectory()
    for name in ["my", "my/Sources", "my/Sources/My"] { try #require(mkdir(folder.path(name), 0o755) == 0) }
    try writePackage()
    try folder.write(Self.source("first-text"), to: "my/Sources/My/My.swift")
  }

  private func writePackage(_ more: String = "") throws {
    try folder.write(
      """
      // swift-tools-version: 6.2
      import PackageDescription
      let module = "My_\\(Context.environment["SLUICE_BUILD"] ?? "0")"
      let package = Package(
        name: "my", products: [.library(name: "my", type: .dynamic, targets: [module])],
        targets: [.target(name: module, path: "Sources/My"\(more))])

      """, to: "my/Package.swift")
  }

  private static func source(_ text: String) -> String {
    """
    @c(sluice_test_text) public func text() -> UnsafePointer<CChar> {
      let text: StaticString = "\(text)"
      return UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
    }

    """
  }

  private func build(_ expected: String, sourceLocation: SourceLocation = #_sourceLocation) async throws
    -> CommandResult
  {
    let result = try await Command.run(
      Tool.path, ["plugin", "build", "--direct", "my"], environment: Tool.cleared, workingDirectory: folder.path,
      limit: Patience.limit)
    #expect(result.errorText.contains(expected), "\(result.errorText)", sourceLocation: sourceLocation)
    return result
  }

  /// Returns whether the built library contains the text. The command has printed the library's path.
  private func library(_ result: CommandResult, has text: String) throws -> Bool {
    let bytes = try FileTree.read(result.outputText.trimmed)
    return bytes.firstRange(of: Array(text.utf8)) != nil
  }

  @Test func `a build of the package without the option leaves a record for the first direct build`() async throws {
    let first = try await Command.run(
      Tool.path, ["plugin", "build", "--quiet", "my"], environment: Tool.cleared, workingDirectory: folder.path,
      limit: Patience.limit)
    #expect(first.status == 0 && first.errorText.isEmpty, "\(first.errorText)")
    _ = try await build(Self.direct)
  }

  @Test func `the second build calls the compiler directly, but changes outside of the plan cause a package build`()
    async throws
  {
    var result = try await build(Self.package + "there is no record of an earlier build")
    #expect(result.status == 0, "\(result.errorText)")
    let first = result.outputText
    #expect(try library(result, has: "first-text"))

    try folder.write(Self.source("second-text"), to: "my/Sources/My/My.swift")
    result = try await build(Self.direct)
    #expect(result.status == 0 && result.outputText == first, "\(result.errorText)")
    #expect(try library(result, has: "second-text") && !library(result, has: "first-text"))

    // The compiler's error message is shown, and the library does not change.
    try folder.write(Self.source("third-text") + "let wrong = gone\n", to: "my/Sources/My/My.swift")
    let before = try FileTree.read(first.trimmed)
    result = try await build(Self.direct)
    #expect(result.status == 1 && result.outputText.isEmpty)
    #expect(
      result.errorText.contains("/my/Sources/My/My.swift:5:13: error: cannot find 'gone' in scope"),
      "\(result.errorText)")
    #expect(try FileTree.read(first.trimmed) == before)

    try folder.write(Self.source("mended-text"), to: "my/Sources/My/My.swift")
    result = try await build(Self.direct)
    #expect(result.status == 0, "\(result.errorText)")
    #expect(try library(result, has: "mended-text"))

    // A new file of the module.
    try folder.write(
      Self.source("fourth-text").replacing("_text", with: "_more").replacing("func text", with: "func more"),
      to: "my/Sources/My/More.swift")
    result = try await build(Self.package)
    #expect(result.status == 0 && result.errorText.contains("/my/Sources/My has changed"), "\(result.errorText)")
    #expect(try library(result, has: "fourth-text") && library(result, has: "mended-text"))

    // Changed compiler settings in the package manifest.
    try writePackage(", swiftSettings: [.define(\"OTHER\")]")
    try folder.write(
      "#if OTHER\n\(Self.source("other-text"))#else\n\(Self.source("same-text"))#endif\n", to: "my/Sources/My/My.swift")
    result = try await build(Self.package)
    #expect(result.status == 0 && result.errorText.contains("/my/Package.swift has changed"), "\(result.errorText)")
    #expect(try library(result, has: "other-text"))

    // Builds the first sources again. The library must then contain nothing of the later changes.
    unlink(folder.path("my/Sources/My/More.swift"))
    try writePackage()
    try folder.write(Self.source("first-text"), to: "my/Sources/My/My.swift")
    result = try await build(Self.package)
    #expect(try library(result, has: "first-text") && !library(result, has: "other-text"))
    try folder.write(Self.source("last-text"), to: "my/Sources/My/My.swift")
    result = try await build(Self.direct)
    #expect(try library(result, has: "last-text"))
  }

  @Test func `both a package build and a direct build link a static standard library and hide its symbols`()
    async throws
  {
    func build(_ options: [String], _ expected: String, isStatic: Bool) async throws -> CommandResult {
      let result = try await Command.run(
        Tool.path, ["plugin", "build", "--direct", "my"] + options, environment: Tool.cleared,
        workingDirectory: folder.path, limit: Patience.limit)
      #expect(result.status == 0 && result.errorText.contains(expected), "\(result.errorText)")
      let inspected = try await Tool.run("plugin", "inspect", "--json", result.outputText.trimmed)
      let document = try #require(inspected.documents.first)
      #expect(document["swiftRuntime"]?.string == (isStatic ? "static" : "shared"), "\(document)")
      #expect(document["needed"]?.elements.contains { $0.string == "libswiftCore.so" } == !isStatic)
      return result
    }
    // This code also needs the part of the runtime that runs tasks.
    func source(_ text: String) -> String {
      Self.source(text) + "public func work() { Task { print(await value()) } }\nfunc value() async -> Int { 1 }\n"
    }
    let exports = "sluice_test_text"
    try folder.write(source("first-text"), to: "my/Sources/My/My.swift")
    var result = try await build(["--static-stdlib"], Self.package, isStatic: true)
    var symbols = try await Command.check("nm", ["-D", "--extern-only", "--defined-only", result.outputText.trimmed])
    #expect(!symbols.outputText.contains("swift") && !symbols.outputText.contains(exports), "\(symbols.outputText)")

    try folder.write(source("second-text"), to: "my/Sources/My/My.swift")
    result = try await build(["--static-stdlib"], Self.direct, isStatic: true)
    #expect(try library(result, has: "second-text"))

    result = try await build([], Self.package + "the environment has changed", isStatic: false)
    symbols = try await Command.check("nm", ["-D", "--extern-only", "--defined-only", result.outputText.trimmed])
    #expect(symbols.outputText.contains(exports))
  }

  @Test func `a changed environment or a broken record causes a package build`() async throws {
    _ = try await build(Self.package)
    let record = folder.path("my/.build/sluice-direct/record.json")
    let text = try FileTree.readText(record)
    try folder.write(Self.source("second-text"), to: "my/Sources/My/My.swift")
    for broken in ["", "{}", "[]", String(text.dropLast(5)), text.replacing(#""form":1"#, with: #""form":2"#)] {
      try #require(broken != text)
      try StampedLibrary.install(Array(broken.utf8), at: record)
      // The test checks only that a package build is started, not its output.
      let result = try await Command.run(
        Tool.path, ["plugin", "build", "--direct", "my"],
        environment: Tool.cleared.merging(["PATH": "/nowhere"]) { $1 },
        workingDirectory: folder.path, limit: Patience.limit)
      #expect(
        result.status == 1 && result.errorText.contains(Self.package + "there is no record"), "\(result.errorText)")
    }
    try StampedLibrary.install(Array(text.utf8), at: record)
    let result = try await Command.run(
      Tool.path, ["plugin", "build", "--direct", "my"], environment: Tool.cleared.merging(["PATH": "/nowhere"]) { $1 },
      workingDirectory: folder.path, limit: Patience.limit)
    #expect(
      result.status == 1 && result.errorText.contains(Self.package + "the environment has"), "\(result.errorText)")
    #expect(!FileTree.names(in: folder.path("my/.build/sluice-direct")).contains("record.json"), "not trusted any more")
  }
}
