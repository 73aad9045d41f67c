import SluiceServer
import SluiceTestKit
import Testing

/// Plugins in Swift under `sluice attach`, in programs with and without their own Swift runtime.
///
/// Disabled under a sanitizer: the host library then needs the sanitizer's runtime, which the programs do not have.
@Suite(.enabled(if: !Sanitizer.isOn)) struct AttachRuntimeTests {
  private static let otherBuildID = "0123456789abcdef0123456789abcdef01234567"
  /// A plugin that is linked with the shared Swift runtime.
  private static let plugin = BuiltProducts.library("sleeps-in-swift")

  private static func configuration(_ onMissing: String) -> String {
    """
    {"plugins": {"s": {"library": "\(plugin)"}}, "request": ["s"], "attach": {"onMissing": "\(onMissing)"}}
    """
  }

  /// A program that is linked with a library that has the name of the Swift runtime.
  private static func program(in folder: TemporaryDirectory) async throws -> ForeignProgram {
    let source = try folder.write("int not_the_runtime_of_swift = 1;\n", to: "runtime.c")
    try await Command.check(
      "cc",
      [
        "-shared", "-fPIC", "-Wl,-soname,libswiftCore.so", "-Wl,--build-id=0x\(otherBuildID)", source, "-o",
        folder.path("libswiftCore.so"),
      ])
    return try await ForeignProgram.compile(
      "reused",
      [
        "-lcurl", "-Wl,--no-as-needed", "-L\(folder.path)", "-l:libswiftCore.so", "-Wl,-rpath,\(folder.path)",
      ])
  }

  /// The build id of the runtime with which the plugin was linked.
  private static func ownBuildID() async throws -> String {
    let libraries = try await Command.check("ldd", [plugin]).outputText.split(separator: "\n")
    let line = try #require(libraries.first { $0.contains("libswiftCore.so => ") })
    let path = try #require(line.split(separator: " ").dropFirst(2).first)
    let notes = try await Command.check("readelf", ["-nW", String(path)]).outputText
    let id = notes.split(separator: "\n").first { $0.contains("Build ID: ") }?.split(separator: " ").last
    return String(try #require(id))
  }

  @Test func `a plugin with another Swift runtime than the program is refused, and the error names both build ids`()
    async throws
  {
    let folder = try TemporaryDirectory()
    let program = try await Self.program(in: folder)
    let runs = try await AttachedComparison.run({ [program.path, $0] }, configuration: Self.configuration("pass"))
    #expect(runs.attached.ending == runs.plain.ending)
    #expect(runs.attached.outputText == runs.plain.outputText)
    #expect(runs.attachedRequests.count == runs.plainRequests.count)
    #expect(runs.attachedRequests.allSatisfy { $0.headers.first("x-count") == nil })
    let id = try await Self.ownBuildID()
    let words = "was linked with the Swift runtime with the build id \(id), but the program has \(Self.otherBuildID)"
    #expect(runs.attached.errorText.contains(words), "\(runs.attached.errorText)")
    #expect(runs.passed.contains { $0.contains("the plan could not be read or used") })
  }

  @Test func `with onMissing "fail", no request is sent if a plugin is refused because of its Swift runtime`()
    async throws
  {
    let folder = try TemporaryDirectory()
    let program = try await Self.program(in: folder)
    let runs = try await AttachedComparison.run({ [program.path, $0] }, configuration: Self.configuration("fail"))
    #expect(!runs.plainRequests.isEmpty)
    #expect(runs.attachedRequests.isEmpty)
    #expect(runs.attached.errorText.contains(" failed without the pipeline: the plan could not be read or used"))
    #expect(runs.attached.errorText.contains(Self.otherBuildID), "\(runs.attached.errorText)")
  }

  @Test func `a plugin on the shared runtime works in a program without a Swift runtime`() async throws {
    let program = try await ForeignProgram.compile("reused")
    let runs = try await AttachedComparison.run({ [program.path, $0] }, configuration: Self.configuration("pass"))
    #expect(!runs.attachedRequests.isEmpty)
    #expect(runs.attachedRequests.allSatisfy { $0.headers.first("x-count") != nil })
    #expect(runs.passed.isEmpty)
  }

  @Test(arguments: ["access-log", "oauth-refresh", "otlp", "aws-sigv4"])
  func `the plugins that are made for attach do not need the shared Swift runtime`(name: String) async throws {
    let needed = try await Command.check("readelf", ["-dW", BuiltProducts.library(name)]).outputText
    #expect(needed.contains("(NEEDED)") && !needed.contains("libswift"), "\(needed)")
  }
}
