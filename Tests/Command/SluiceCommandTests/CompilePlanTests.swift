import SluiceJSON
import Testing

@testable import SluiceCommand

/// A compile plan: the compiler commands that replace a package build. They are derived from the files of an earlier
/// package build.
@Suite struct CompilePlanTests {
  private static let hash = "0123456789"
  private static let outputs = CompilePlan.Outputs(folder: "/p/.build/sluice-direct")

  /// The manifest that `swift build` writes for a plugin with one source and one module of the SDK.
  private static let manifest = """
    client:
      name: basic
      file-system: device-agnostic
    tools: {}
    targets:
      "My_0123456789-debug.module": ["<My_0123456789-debug.module>"]
      "PackageStructure": ["<PackageStructure>"]
      "main": ["<My_0123456789-debug.module>","<my-debug.dylib>"]
      "test": ["<My_0123456789-debug.module>","<my-debug.dylib>"]
    default: "main"
    commands:
      "/p/.build/debug/My_0123456789.build/My_0123456789.swiftmodule.o":
        tool: shell
        inputs: ["/p/.build/debug/Modules/My_0123456789.swiftmodule"]
        outputs: ["/p/.build/debug/My_0123456789.build/My_0123456789.swiftmodule.o"]
        description: "Wrapping AST for My_0123456789 for debugging"
        args: ["/swift/bin/swiftc","-modulewrap","/p/.build/debug/Modules/My_0123456789.swiftmodule","-o","/p/.build/debug/My_0123456789.build/My_0123456789.swiftmodule.o","-target","x86_64"]

      "/p/.build/debug/My_0123456789.build/sources":
        tool: write-auxiliary-file
        inputs: ["<sources-file-list>","/p/Sources/My/My.swift"]
        outputs: ["/p/.build/debug/My_0123456789.build/sources"]

      "/p/.build/debug/my.product/Objects.LinkFileList":
        tool: write-auxiliary-file
        inputs: ["<link-file-list>","/p/.build/debug/SDK.build/SDK.swift.o","/p/.build/debug/My_0123456789.build/My.swift.o"]
        outputs: ["/p/.build/debug/my.product/Objects.LinkFileList"]

      "<My_0123456789-debug.module>":
        tool: phony
        inputs: ["/p/.build/debug/My_0123456789.build/My.swift.o","/p/.build/debug/Modules/My_0123456789.swiftmodule"]
        outputs: ["<My_0123456789-debug.module>"]

      "<my-debug.dylib>":
        tool: phony
        inputs: ["/p/.build/debug/libmy.so"]
        outputs: ["<my-debug.dylib>"]

      "C.SDK-debug.module":
        tool: shell
        inputs: ["/sdk/Sources/SDK/SDK.swift"]
        outputs: ["/p/.build/debug/SDK.build/SDK.swift.o","/p/.build/debug/Modules/SDK.swiftmodule"]
        args: ["/swift/bin/swiftc","-module-name","SDK"]

      "C.My_0123456789-debug.module":
        tool: shell
        inputs: ["/p/Sources/My/My.swift","/p/.build/debug/Modules/SDK.swiftmodule","/p/.build/debug/My_0123456789.build/sources"]
        outputs: ["/p/.build/debug/My_0123456789.build/My.swift.o","/p/.build/debug/Modules/My_0123456789.swiftmodule"]
        description: "Compiling Swift Module 'My_0123456789' (1 sources)"
        args: ["/swift/bin/swiftc","-module-name","My_0123456789","-emit-dependencies","-emit-module","-emit-module-path","/p/.build/debug/Modules/My_0123456789.swiftmodule","-output-file-map","/p/.build/debug/My_0123456789.build/output-file-map.json","-incremental","-c","@/p/.build/debug/My_0123456789.build/sources","-I","/p/.build/debug/Modules","-Onone","-parseable-output","-emit-objc-header","-emit-objc-header-path","/p/.build/debug/My_0123456789.build/include/My_0123456789-Swift.h","-g"]

      "C.my-debug.dylib":
        tool: shell
        inputs: ["/p/.build/debug/SDK.build/SDK.swift.o","/p/.build/debug/My_0123456789.build/My.swift.o","/p/.build/debug/My_0123456789.build/My_0123456789.swiftmodule.o","/p/.build/debug/my.product/Objects.LinkFileList"]
        outputs: ["/p/.build/debug/libmy.so"]
        description: "Linking libmy.so"
        args: ["/swift/bin/swiftc","-ljansson","-o","/p/.build/debug/libmy.so","-module-name","my","-emit-library","-Xlinker","-rpath=$ORIGIN","@/p/.build/debug/my.product/Objects.LinkFileList","-g"]

      "PackageStructure":
        tool: package-structure-tool
        inputs: ["/p/Sources/My/","/p/Package.swift","/p/Package.resolved"]
        outputs: ["<PackageStructure>"]
        allow-missing-inputs: true

    """

  private static func plan(_ text: String = manifest, package: String = "/p", build: String = hash) -> CompilePlan? {
    BuildManifest(text).flatMap { CompilePlan($0, package: package, build: build, outputs: outputs) }
  }

  @Test func `the commands are the same as in the package build, but write to their own output files`() throws {
    let plan = try #require(Self.plan())
    let own = "/p/.build/sluice-direct"
    #expect(
      plan.steps == [
        [
          "/swift/bin/swiftc", "-module-name", "My_0123456789", "-emit-dependencies", "-emit-module",
          "-emit-module-path", "\(own)/module.swiftmodule", "-output-file-map", "\(own)/output-file-map.json",
          "-incremental", "-c", "/p/Sources/My/My.swift", "-I", "/p/.build/debug/Modules", "-Onone",
          "-emit-objc-header", "-emit-objc-header-path", "\(own)/module.h", "-g",
        ],
        [
          "/swift/bin/swiftc", "-modulewrap", "\(own)/module.swiftmodule", "-o", "\(own)/module.swiftmodule.o",
          "-target", "x86_64",
        ],
        [
          "/swift/bin/swiftc", "-ljansson", "-o", "\(own)/library.so", "-module-name", "my", "-emit-library",
          "-Xlinker", "-rpath=$ORIGIN", "/p/.build/debug/SDK.build/SDK.swift.o", "\(own)/source-0.o",
          "\(own)/module.swiftmodule.o", "-g",
        ],
      ])
    #expect(plan.library == "/p/.build/debug/libmy.so" && plan.sources == ["/p/Sources/My/My.swift"])
    #expect(plan.outputFileMap["/p/Sources/My/My.swift"]?["object"] == "\(own)/source-0.o")
  }

  @Test func `the name of a build appears only as the module's name`() throws {
    let plan = try #require(Self.plan())
    let steps = plan.steps(for: "abcdefabcd")
    #expect(steps[0][2] == "My_abcdefabcd")
    #expect(!steps.joined().contains { $0.contains(Self.hash) })
    #expect(Array(steps[1...]) == Array(plan.steps[1...]))
  }

  @Test func `the plan lists all files that must not change, which are all inputs except the module's own sources`()
    throws
  {
    let plan = try #require(Self.plan())
    #expect(
      plan.files == [
        "/p/.build/debug/Modules/SDK.swiftmodule", "/p/.build/debug/SDK.build/SDK.swift.o", "/p/Package.resolved",
        "/p/Package.swift", "/sdk/Sources/SDK/SDK.swift",
      ])
    #expect(plan.sourceFolders == ["/p/Sources/My"])
    #expect(plan.dependencyLists == ["/p/.build/debug/My_0123456789.build/My.d"])
  }

  @Test func `a module whose name does not contain the build's name keeps its name`() throws {
    let text = Self.manifest.replacing("My_0123456789", with: "My")
    let plan = try #require(Self.plan(text))
    #expect(plan.steps(for: "abcdefabcd") == plan.steps)
  }

  @Test func `a written plan can be read back`() throws {
    let plan = try #require(Self.plan())
    #expect(try JSONValue(encoding: plan).decode(CompilePlan.self) == plan)
  }

  /// A text in the manifest, and its replacement.
  struct Change: Sendable, CustomTestStringConvertible {
    let name: String
    let old: String
    let new: String
    var testDescription: String { name }
  }

  private static let unknown = [
    Change(name: "no target main", old: #"  "main":"#, new: #"  "all":"#),
    Change(name: "a list that is not JSON", old: #"inputs: ["/sdk"#, new: #"inputs: [/sdk"#),
    Change(name: "a list with a number", old: #"inputs: ["/sdk"#, new: #"inputs: [1,"/sdk"#),
    Change(name: "no section of commands", old: "\ncommands:", new: "\nrules:"),
    Change(
      name: "an output that is made twice", old: "/p/.build/debug/SDK.build/SDK.swift.o\",\"",
      new: "/p/.build/debug/libmy.so\",\""),
    Change(name: "a program without a path", old: #"["/swift/bin/swiftc","-ljansson""#, new: #"["swiftc","-ljansson""#),
    Change(
      name: "another program", old: #"["/swift/bin/swiftc","-module-name","My_"#,
      new: #"["/bin/sh","-module-name","My_"#),
    Change(name: "a static library", old: #""-emit-library","#, new: ""),
    Change(name: "no list of objects", old: #""@/p/.build/debug/my.product/Objects.LinkFileList","#, new: ""),
    Change(name: "two lists of words", old: #""-Onone""#, new: #""@/p/more","-Onone""#),
    Change(name: "an output that is not known", old: #""-Onone""#, new: #""-emit-abi-path","/p/abi.json","-Onone""#),
    Change(name: "one output twice", old: #""-Onone""#, new: #""-output-file-map","/p/other","-Onone""#),
    Change(name: "an output of the compiler's own", old: #""-Onone""#, new: #""-o","/p/other","-Onone""#),
    Change(
      name: "an option without its value",
      old: #""-Xlinker","-rpath=$ORIGIN","@/p/.build/debug/my.product/Objects.LinkFileList","-g"]"#,
      new: #""@/p/.build/debug/my.product/Objects.LinkFileList","-o"]"#),
    Change(
      name: "an output of the package build in a word", old: #""-Onone""#,
      new: #""-Xcc","-x/p/.build/debug/Modules/My_0123456789.swiftmodule","-Onone""#),
    Change(
      name: "a generated source", old: #"inputs: ["/p/Sources/My/My.swift","/p/.build/debug/Modules"#,
      new: #"inputs: ["/p/.build/debug/made.swift","/p/.build/debug/Modules"#),
    Change(name: "a source outside of the folders", old: #""/p/Sources/My/","#, new: #""/p/Sources/Other/","#),
    Change(name: "a second module of the package", old: "/sdk/Sources/SDK/SDK.swift", new: "/p/Sources/SDK/SDK.swift"),
    Change(
      name: "something that is no object in the library",
      old: #"["/p/.build/debug/SDK.build/SDK.swift.o","/p/.build/debug/My_"#,
      new: #"["/lib/libx.a","/p/.build/debug/My_"#),
    Change(name: "no module for debuggers", old: "-modulewrap", new: "-wrap"),
    Change(
      name: "an object for several sources",
      old: #"My.swift.o","/p/.build/debug/Modules/My_0123456789.swiftmodule"]"# + "\n    description",
      new: #"My.swift.o","/p/.build/debug/b.o","/p/.build/debug/Modules/My_0123456789.swiftmodule"]"#
        + "\n    description"),
    Change(
      name: "the name of the build in a path that stays", old: "/p/.build/debug/SDK.build/",
      new: "/p/.build/0123456789/SDK.build/"),
  ]

  @Test(arguments: unknown) func `from a manifest with unknown content, no plan is made`(_ change: Change) throws {
    try #require(Self.manifest.contains(change.old), "\(change.old)")
    #expect(Self.plan(Self.manifest.replacing(change.old, with: change.new)) == nil)
  }

  @Test(arguments: [
    "", "{}", "\n\n", "commands:\n    inputs: [\"a\"]\n", "targets:\n  \"main\": []\ncommands:\n", "\u{0}",
  ])
  func `from a text that is not a manifest, no plan is made`(_ text: String) {
    #expect(Self.plan(text) == nil)
  }

  @Test func `for a build without a name, or of another package, no plan is made`() {
    #expect(Self.plan(build: "") == nil)
    #expect(Self.plan(build: "0") == nil, "this name also occurs in paths, by chance")
    #expect(Self.plan(package: "/q") == nil)
  }

  @Test func `a manifest that is cut at any place is read without a crash`() {
    let bytes = Array(Self.manifest.utf8)
    for count in stride(from: 0, to: bytes.count, by: 37) {
      _ = Self.plan(String(decoding: bytes[..<count], as: UTF8.self))
      _ = Self.plan(String(decoding: bytes[count...], as: UTF8.self))
    }
  }

  // MARK: Dependency files in make syntax

  @Test func `the compiler's input files: spaces, dollars and continued lines`() {
    let text = "/o/a.o : /p/a.swift /p/with\\ space.h \\\n  /p/d$$.h\n/o/b.o : /p/b.swift\n"
    #expect(DependencyList.paths(in: text) == ["/p/a.swift", "/p/with space.h", "/p/d$.h", "/p/b.swift"])
    #expect(DependencyList.paths(in: "/o/a.o : relative.h") == nil)
    #expect(DependencyList.paths(in: "no rule") == nil)
    #expect(DependencyList.paths(in: "")?.isEmpty == true)
  }

  // MARK: Messages

  @Test func `the kind of build can be read back from its message`() {
    for way in [BuildWay.direct, .package(because: "/p/Package.swift has changed")] {
      #expect(BuildWay(line: "sluice: \(way.message)") == way)
    }
    #expect(BuildWay(line: "sluice: plugin build: something else") == nil)
    #expect(BuildWay(line: BuildWay.direct.message) == nil)
  }

  @Test func `an error counts as the plugin's own only if it is in one of its sources`() {
    let own = "/p/a.swift:3:4: error: cannot find 'b' in scope\n"
    #expect(DirectBuild.hasError(own, in: ["/p/a.swift"]))
    #expect(!DirectBuild.hasError(own, in: ["/p/b.swift"]))
    #expect(!DirectBuild.hasError(own + "/sdk/x.h:1:1: error: gone\n", in: ["/p/a.swift"]))
    #expect(!DirectBuild.hasError("<unknown>:0: error: no module\n", in: ["/p/a.swift"]))
    #expect(!DirectBuild.hasError("/p/a.swift:3:4: warning: unused\n", in: ["/p/a.swift"]))
  }
}
