import Glibc
import SluiceJSON
import SluiceTestKit
import Testing

/// `sluice dev` with sources that are edited. The tests use the compilers of this machine.
@Suite struct DevBuildTests {
  /// A plugin of `sluice plugin new` in the folder `my`, which sets `x-my`.
  private static func scaffold(_ language: String, in folder: TemporaryDirectory) async throws {
    let made = try await Command.run(
      Tool.path, ["plugin", "new", "my", "--lang", language], environment: Tool.cleared, workingDirectory: folder.path)
    guard made.status == 0 else { throw TestKitError(made.errorText) }
  }

  private static func configuration(_ url: String, library: String, build: String = #"{"folder": "my"}"#) -> String {
    """
    {"plugins": {"my": {"library": "my/\(library)", "config": {"value": "v"}, "build": \(build)}},
     "request": ["my"], "store": "store", "transport": {"baseURL": "\(url)"}}
    """
  }

  private static func edit(_ file: String, _ old: String, _ new: String) throws {
    let text = try FileTree.readText(file)
    guard text.contains(old) else { throw TestKitError("\(file) has no \(old)") }
    try StampedLibrary.install(Array(text.replacing(old, with: new).utf8), at: file)
  }

  @Test func `a plugin in C is built again at each edit, and an error is shown until it is fixed`()
    async throws
  {
    let run = try await DevRun(configuration: { Self.configuration($0, library: "build/libmy.so") }) {
      try await Self.scaffold("c", in: $0)
    }
    try await run.next("building")
    let built = try await run.next("built")
    #expect(built.plugins == ["my"] && built["diagnostics"]?.count == 0, "\(built)")
    let started = try await run.next("started")
    #expect(started["builds"]?[0]?["version"]?.string == "0.1.0")
    let source = run.folder.path("my/plugin.c")
    try Self.edit(source, "\"0.1.0\"", "\"0.2.0\"")
    let swapped = try await run.next("swapped")
    #expect(swapped.plugins == ["my"], "\(swapped)")

    try Self.edit(source, "const instance *self = context;", "const instance *self = contxt;")
    let failed = try await run.next("build-failed")
    let diagnostic = try #require(failed["diagnostics"]?.elements.first { $0["severity"]?.string == "error" })
    #expect(diagnostic["file"]?.string?.hasSuffix("my/plugin.c") == true && diagnostic["column"]?.integer ?? 0 > 0)
    #expect(diagnostic["line"]?.integer == 14 && diagnostic["message"]?.string?.contains("contxt") == true, "\(failed)")
    #expect(try await run.request()["snapshot"]?.integer == 2, "the previous build serves")

    try Self.edit(source, "self = contxt;", "self = context; // mended")
    // Only the event `built` is certain. Whether a changed comment changes the library depends on debug information.
    try await run.next("built")
    try Self.edit(source, "\"0.2.0\"", "\"0.3.0\"")
    try await run.next("swapped")
    #expect(try await run.request()["status"]?.integer == 200)
    try await run.end()
  }

  /// The folder as it is, as a symbolic link, and with a symbolic link to the source.
  @Test(arguments: ["my", "link", "my/plugin.c"])
  func `a build that changes only its outputs is not repeated, and each edit is built once`(_ place: String)
    async throws
  {
    let folder = place == "link" ? "link" : "my"
    let build = "{\"folder\": \"\(folder)\"}"
    let run = try await DevRun(configuration: { Self.configuration($0, library: "build/libmy.so", build: build) }) {
      try await Self.scaffold("c", in: $0)
      if place == "link" { #expect(symlink("my", $0.path("link")) == 0) }
      if place == "my/plugin.c" {
        #expect(rename($0.path("my/plugin.c"), $0.path("source")) == 0 && symlink("../source", $0.path(place)) == 0)
      }
      // The folder `build` exists, as in each session after the first one.
      let built = try await Command.run(
        Tool.path, ["plugin", "build", "my"], environment: Tool.cleared, workingDirectory: $0.path)
      #expect(built.status == 0, "\(built.errorText)")
    }
    try await run.next("built")
    let source = run.folder.path(place == "my/plugin.c" ? "source" : "my/plugin.c")
    for (old, new) in [("0.1.0", "0.2.0"), ("0.2.0", "0.3.0"), ("0.3.0", "0.4.0")] {
      try Self.edit(source, "\"\(old)\"", "\"\(new)\"")
      try await run.next("swapped") { $0["report"]?["changes"]?[0]?["new"]?["version"]?.string == new }
    }
    #expect(run.count("building") == 4 && run.count("built") == 4, "the first one, and one for each edit")
    #expect(run.count("unchanged") == 0, "the file events of a build are not a second change")
    try await run.end()
  }

  /// Builds the SDK for the plugin first, which takes minutes.
  @Test(.enabled(if: Tool.isSoak)) func `a plugin in Swift is built again at each edit`() async throws {
    let run = try await DevRun(configuration: { Self.configuration($0, library: ".build/debug/libmy.so") }) {
      try await Self.scaffold("swift", in: $0)
    }
    let first = try await run.next("built")
    #expect(first["way"]?.string == "package" && first["reason"]?.string != nil, "\(first)")
    try await run.next("started")
    let source = run.folder.path("my/Sources/MyPlugin/MyPlugin.swift")
    try Self.edit(source, "version: \"0.1.0\"", "version: \"0.2.0\"")
    let second = try await run.next("built")
    #expect(second["way"]?.string == "direct" && second["reason"] == nil, "\(second)")
    try await run.next("swapped")
    try Self.edit(source, "configuration.value", "configuration.valu")
    let failed = try await run.next("build-failed")
    #expect(failed["way"]?.string == "direct", "\(failed)")
    let diagnostic = try #require(failed["diagnostics"]?.elements.first { $0["severity"]?.string == "error" })
    #expect(
      diagnostic["file"]?.string?.hasSuffix("MyPlugin.swift") == true && diagnostic["line"]?.integer ?? 0 > 0,
      "\(failed)")
    #expect(try await run.request()["snapshot"]?.integer == 2)
    try Self.edit(source, "configuration.valu", "configuration.value // mended")
    try await run.next("built") { $0["way"]?.string == "direct" }
    try await run.next("swapped")
    #expect(try await run.request()["status"]?.integer == 200)
    try run.folder.write("// A file more.\n", to: "my/Sources/MyPlugin/More.swift")
    let more = try await run.next("built")
    #expect(
      more["way"]?.string == "package" && more["reason"]?.string?.hasSuffix("/MyPlugin has changed") == true, "\(more)")
    try await run.next("swapped")
    try await run.end()
  }

  @Test func `the newest edit wins: a running build is killed, with all its processes`() async throws {
    let library = try await StampedLibrary.inC()
    let script = """
      #!/bin/sh
      echo started >>log
      case $(cat source/what) in
        slow) sleep 600 & echo $! >sleeper; sleep 600 ;;
        *) cp "$(cat source/what)" a.new && chmod 755 a.new && mv a.new a.so ;;
      esac
      """
    let run = try await DevRun(
      configuration: {
        DevRun.configuration(
          $0,
          plugin: #"""
            "library": "a.so", "config": {"header": "x-stamp-a"},
            "build": {"command": ["sh", "build.sh"], "sources": ["source"]}
            """#)
      }
    ) { folder in
      mkdir(folder.path("source"), 0o755)
      try folder.write(script, to: "build.sh")
      try folder.write("one", to: "source/what")
      try library.install(1, at: folder.path("one"))
      try library.install(2, at: folder.path("two"))
    }
    try await run.start()
    try run.folder.write("slow", to: "source/what")
    try await run.next("building")
    let sleeper = run.folder.path("sleeper")
    let end = ContinuousClock.now + Patience.limit
    while (try? FileTree.readText(sleeper))?.hasSuffix("\n") != true, ContinuousClock.now < end { await Task.yield() }
    let process = try #require(pid_t(try FileTree.readText(sleeper).trimmed))
    try run.folder.write("two", to: "source/what")
    try await run.next("swapped")
    #expect(kill(process, 0) != 0, "nothing of the build is left")
    #expect(run.count("built") == 2, "the first, and the last")
    try await run.end()
  }

  /// A session whose build copies the file that `source/what` names to `a.so`, and fails if there is none. The file `one`
  /// is a good build, `two` another one, and `bad` fails its trial.
  private static func copying(
    _ command: String = "cp $(cat source/what) a.new && chmod 755 a.new && mv a.new a.so",
    _ prepare: @escaping @Sendable (TemporaryDirectory) throws -> Void = { _ in }
  ) async throws -> DevRun {
    let (library, bad) = (try await StampedLibrary.inC(), try await StampedLibrary.inC(.failsCreate))
    return try await DevRun(
      configuration: {
        DevRun.configuration(
          $0,
          plugin: #"""
            "library": "a.so", "config": {"header": "x-stamp-a"},
            "build": {"command": ["sh", "-c", "\#(command)"], "sources": ["source"]}
            """#)
      }
    ) { folder in
      mkdir(folder.path("source"), 0o755)
      try folder.write("one", to: "source/what")
      for (number, name) in [(1, "one"), (2, "two")] { try library.install(number, at: folder.path(name)) }
      try bad.install(3, at: folder.path("bad"))
      try prepare(folder)
    }
  }

  @Test func `each save is reported once: a refused build is not called unchanged afterwards`() async throws {
    let run = try await Self.copying()
    try await run.start()
    for (what, event) in [("bad", "refused"), ("two", "swapped"), ("bad", "refused"), ("one", "swapped")] {
      try run.folder.write(what, to: "source/what")
      try await run.next(event)
    }
    #expect(try await run.request()["snapshot"]?.integer == 3)
    #expect(run.count("unchanged") == 0 && run.count("refused") == 2 && run.count("swapped") == 2)
    try await run.end()
  }

  @Test func `after a bad build, going back to the sources that serve says which build serves`() async throws {
    let run = try await Self.copying()
    try await run.start()
    for (what, event) in [("missing", "build-failed"), ("bad", "refused")] {
      try run.folder.write(what, to: "source/what")
      try await run.next(event)
      try run.folder.write("one", to: "source/what")
      try await run.next("built")
      let unchanged = try await run.next("unchanged")
      #expect(unchanged.plugins == ["a"] && unchanged["serving"]?["generation"]?.integer == 1, "\(unchanged)")
      #expect(unchanged["serving"]?["hash"] == unchanged["hash"] && unchanged["hash"] != nil, "\(unchanged)")
    }
    #expect(try await run.request()["snapshot"]?.integer == 1)
    #expect(run.count("unchanged") == 2, "\(run.running.outputSoFar)")
    try await run.end()
  }

  @Test func `a start that fails is reported once, although the first build ends afterwards`() async throws {
    let run = try await Self.copying("read line <gate; touch a.so") { folder in
      try #require(mkfifo(folder.path("gate"), 0o600) == 0)
      try StampedLibrary.install(FileTree.read(folder.path("bad")), at: folder.path("a.so"))
    }
    let waiting = try await run.next("waiting")
    #expect(waiting["reason"]?.string?.contains("the moon is missing") == true, "\(waiting)")
    let gate = FileDescriptor(adopting: open(run.folder.path("gate"), O_RDWR | O_CLOEXEC))
    try gate.write(Array("go\n".utf8))
    try await run.next("built")
    try StampedLibrary.install(FileTree.read(run.folder.path("one")), at: run.library)
    try await run.start()
    #expect(run.count("waiting") == 1, "\(run.running.outputSoFar)")
    gate.close()
    try await run.end()
  }

  @Test func `the output of a build that fails without diagnostics is shown, and the end of dev kills a running build`()
    async throws
  {
    let library = try await StampedLibrary.inC()
    let run = try await DevRun(
      configuration: {
        DevRun.configuration(
          $0,
          plugin: #"""
            "library": "a.so", "config": {"header": "x-stamp-a"},
            "build": {"command": ["sh", "-c", "sh ./source"], "sources": ["source"]}
            """#)
      }
    ) { folder in
      try library.install(1, at: folder.path("a.so"))
      try folder.write("echo no idea >&2; exit 7", to: "source")
    }
    let failed = try await run.next("build-failed")
    #expect(failed["output"]?.elements.compactMap(\.string) == ["no idea"], "\(failed)")
    try run.folder.write("echo $$ >process; exec sleep 600", to: "source")
    try await run.next("building")
    let file = run.folder.path("process")
    try #require(try await eventually { (try? FileTree.readText(file))?.hasSuffix("\n") == true })
    let process = try #require(pid_t(try FileTree.readText(file).trimmed))
    run.running.send(signal: SIGKILL)
    _ = try await run.running.wait(upTo: Patience.limit)
    #expect(try await eventually { kill(process, 0) != 0 }, "the build ended with sluice dev")
  }
}
