import Glibc
import SluiceAssembly
import SluiceJSON
import SluiceMessages
import SluiceServer
import SluiceSupport
import SluiceTestKit
import Testing

@testable import SluiceCommand

/// The parts of `sluice dev` that need no process.
@Suite struct DevPartsTests {
  // MARK: Debounce

  @Test func `a file is reported when it has not changed for the time that was set for it`() {
    var debounce = Debounce<String>(longest: .milliseconds(500))
    #expect(debounce.nextDue == nil)
    debounce.note("a", at: .zero, silence: .milliseconds(50))
    debounce.note("a", at: .milliseconds(40), silence: .milliseconds(50))
    debounce.note("b", at: .milliseconds(50), silence: .milliseconds(20))
    #expect(debounce.nextDue == .milliseconds(70))
    #expect(debounce.takeDue(at: .milliseconds(69)).isEmpty)
    #expect(debounce.takeDue(at: .milliseconds(70)) == ["b": .milliseconds(50)])
    #expect(debounce.takeDue(at: .milliseconds(90)) == ["a": .zero])
    #expect(debounce.nextDue == nil)
  }

  @Test func `a file that keeps changing is still reported`() {
    var debounce = Debounce<Int>(longest: .milliseconds(500))
    var told = 0
    for millisecond in 0..<2000 {
      debounce.note(1, at: .milliseconds(millisecond), silence: .milliseconds(50))
      told += debounce.takeDue(at: .milliseconds(millisecond)).count
    }
    #expect(told == 3, "once every 501 ms: the longest wait is 500 ms")
  }

  // MARK: Watched places

  @Test func `every symbolic link on a path is watched, and also the first missing part`() throws {
    let folder = try TemporaryDirectory()
    let real = try #require(Paths.resolved(folder.path))
    mkdir(folder.path("one"), 0o755)
    symlink("one", folder.path("now"))
    try folder.write("x", to: "one/file")
    symlink("file", folder.path("one/link"))
    symlink("\(real)/now/../round", folder.path("round"))
    func places(_ path: String) -> [String] { WatchedPlace.all(of: path).map { "\($0.folder)/\($0.name)" } }
    #expect(places("\(real)/now/link") == ["\(real)/now", "\(real)/one/link", "\(real)/one/file"])
    #expect(places("\(real)/now/../one/file") == ["\(real)/now", "\(real)/one/file"])
    #expect(places("\(real)/gone/deep/file") == ["\(real)/gone"])
    #expect(!places("\(real)/round").isEmpty, "a circle ends")
  }

  // MARK: Diagnostics

  private func read(_ text: String) -> DiagnosticReader {
    var reader = DiagnosticReader()
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) { reader.add(String(line)) }
    return reader
  }

  @Test func `gcc: the reader finds the place, the message and the source line below it`() throws {
    let reader = read(
      """
      /p/plugin.c: In function 'on_request':
      /p/plugin.c:16:26: error: 'contxt' undeclared (first use in this function); did you mean 'context'?
         16 |   const instance *self = contxt;
            |                          ^~~~~~
            |                          context
      /p/plugin.c:16:26: note: each undeclared identifier is reported only once
      /p/plugin.c:9:5: warning: unused variable: 'x' [-Wunused-variable]
      """)
    #expect(reader.diagnostics.map(\.severity) == [.error, .note, .warning])
    let first = try #require(reader.diagnostics.first)
    #expect(first.file == "/p/plugin.c" && first.line == 16 && first.column == 26 && first.excerpt.count == 3)
    #expect(first.message.hasPrefix("'contxt' undeclared"))
    #expect(reader.diagnostics.last?.message == "unused variable: 'x' [-Wunused-variable]")
  }

  @Test func `swift: repeated errors are shown once, and errors that only follow from them are not shown`() {
    let error = """
      /p/Sources/My/My.swift:29:5: error: cannot find 'reqest' in scope
      27 |
      29 |     reqest.headers["x"] = "y"
         |     `- error: cannot find 'reqest' in scope
      """
    let reader = read(
      "[1/4] Compiling My My.swift\n\(error)\nerror: emit-module command failed with exit code 1\n\(error)")
    #expect(reader.diagnostics.count == 1)
    #expect(reader.diagnostics.first?.line == 29 && reader.diagnostics.first?.excerpt.count == 3)
  }

  @Test func `linkers: the reader finds the missing symbol and the place that uses it`() {
    let reader = read(
      """
      /usr/bin/ld: /tmp/cc1.o: in function `create':
      /usr/bin/ld: /p/plugin.c:31: undefined reference to `gone'
      collect2: error: ld returned 1 exit status
      """)
    #expect(reader.diagnostics.count == 1)
    #expect(reader.diagnostics.first?.file == "/p/plugin.c" && reader.diagnostics.first?.line == 31)
    #expect(reader.diagnostics.first?.message == "undefined reference to `gone'")
  }

  @Test func `colours are removed from a compiler's output, and a message without a place is shown too`() {
    let reader = read(
      "\u{1B}[1mcc1:\u{1B}[0m \u{1B}]0;title\u{07}\u{1B}[31;1mfatal error: \u{1B}[Kno input files\nerror: no rule")
    #expect(reader.diagnostics.map(\.message) == ["no input files", "no rule"])
    #expect(reader.diagnostics.map(\.file) == ["cc1", nil])
  }

  @Test(arguments: [
    "", ":", ": error: ", "::1: error: x", "a: error:", "\u{1B}[", "\u{1B}]", String(repeating: ":", count: 9999),
  ])
  func `malformed lines do not crash the reader`(_ line: String) { _ = read(line + "\n" + line).diagnostics }

  // MARK: Crashes

  @Test func `if the same builds crash, the engine restarts twice in a minute, but never after a crash at the start`() {
    var ledger = CrashLedger()
    #expect(ledger.note(at: .seconds(1), goesBack: false, wasReady: true) == .restart)
    #expect(ledger.note(at: .seconds(2), goesBack: false, wasReady: true) == .restart)
    #expect(ledger.note(at: .seconds(3), goesBack: false, wasReady: true) == .giveUp)
    #expect(ledger.note(at: .seconds(100), goesBack: false, wasReady: true) == .restart, "long ago")
    #expect(ledger.note(at: .seconds(101), goesBack: false, wasReady: false) == .giveUp)
    #expect(ledger.note(at: .seconds(101), goesBack: true, wasReady: false) == .restart, "other builds")
  }

  // MARK: Libraries

  @Test func `a change that the session saw before its event came is reported once`() throws {
    let folder = try TemporaryDirectory()
    let file = try folder.write("x", to: "a.so")
    var library = LibraryState(plugins: ["a"], seen: SystemPath.status(of: file))
    // The session reads the file for reasons of its own, between the change and the event of the change.
    try folder.write("xx", to: "a.so")
    let changed = SystemPath.status(of: file)
    let early = [LibraryState.Cause.session, .file, .file].map { library.noteKnownContent(changed, because: $0) }
    #expect(early == [false, true, false])
    // The end of a build is always reported, but not the events of the files that it wrote.
    let built = [LibraryState.Cause.build, .file].map { library.noteKnownContent(changed, because: $0) }
    #expect(built == [true, false])
    // The events of new content are not reported, and later changes are.
    library.noteNewContent(changed)
    let same = library.noteKnownContent(changed, because: .file)
    try folder.write("xxx", to: "a.so")
    let later = library.noteKnownContent(SystemPath.status(of: file), because: .file)
    #expect(!same && later)
  }

  // MARK: The end

  @Test func `messages that arrive after the interrupt, in the same batch, are left for the end of the session`()
    throws
  {
    let folder = try TemporaryDirectory()
    let file = try folder.write("{}", to: "c.json")
    let arguments = try ArgumentParser.parse(["-c", file, "--json"], for: DevCommand.description)
    let session = try DevSession(try DevSettings(arguments))
    defer { _ = session.output.finish() }
    let messages: [DevMessage] = [.typed("/before"), .interrupted(SIGINT), .build(1, .written("w")), .typed("/behind")]
    let left = session.handle(messages)
    let builds = left.compactMap { message -> Int? in if case .build(let number, _) = message { number } else { nil } }
    #expect(left.count == 2 && builds == [1])
  }

  // MARK: The folder for files

  @Test func `a folder is removed at the end of its session, or by the next session, and no other folder is removed`()
    throws
  {
    let base = try TemporaryDirectory()
    func names() -> Set<String> { Set(FileTree.names(in: base.path)) }
    var living: SourceFolder? = try SourceFolder(in: base.path)
    let live = try #require(living?.path.split(separator: "/").last.map { String($0) })
    _ = try living?.write([1], as: "a.so")
    // A folder of a killed session.
    try base.makeFolder("sluice-dev-killed")
    for name in ["a.so", "crash-1"] { try base.write("x", to: "sluice-dev-killed/\(name)") }
    // Entries that only look like a folder of a session.
    let precious = try base.makeFolder("precious")
    try base.write("x", to: "precious/file")
    symlink(precious, base.path("sluice-dev-linked"))
    try base.write("x", to: "sluice-dev-abfile")
    try base.makeFolder("sluice-dev-long-name")
    try base.makeFolder("sluice-dev-shared", mode: 0o755)
    chmod(base.path("sluice-dev-shared"), 0o755)
    try base.makeFolder("sluice-dev-deeper")
    try base.makeFolder("sluice-dev-deeper/folder")
    let others = names().subtracting(["sluice-dev-killed"])
    do {
      let second = try SourceFolder(in: base.path)
      let own = try #require(second.path.split(separator: "/").last.map { String($0) })
      #expect(names() == others.union([own]))
      #expect(FileTree.exists(base.path("\(live)/a.so")) && FileTree.exists(base.path("precious/file")))
    }
    #expect(names() == others)
    living = nil
    #expect(names() == others.subtracting([live]))
  }

  @Test(.enabled(if: geteuid() == 0)) func `a folder of another user is not removed`() throws {
    let base = try TemporaryDirectory()
    let other = try base.makeFolder("sluice-dev-others")
    chown(other, 65534, 65534)
    do { _ = try SourceFolder(in: base.path) }
    #expect(FileTree.names(in: base.path) == ["sluice-dev-others"])
  }

  @Test func `sessions that start at the same time do not remove each other's folders`() async throws {
    let base = try TemporaryDirectory()
    let path = base.path
    let held = Watched(0)
    try await withThrowingTaskGroup { group in
      for _ in 0..<16 {
        group.addTask {
          let folder = try SourceFolder(in: path)
          held.update { $0 += 1 }
          try await held.wait { $0 == 16 }
          #expect(FileTree.exists(folder.path))
          _ = try folder.write([1], as: "a.so")
        }
      }
      try await group.waitForAll()
    }
    #expect(FileTree.names(in: base.path).isEmpty)
  }

  // MARK: The sources of a package

  @Test func `the name of a build depends on its sources, but not on other files in the same folder`() throws {
    let folder = try TemporaryDirectory()
    for name in ["Sources", "Sources/My"] { try folder.makeFolder(name) }
    try folder.write("let a = 1\n", to: "Sources/My/My.swift")
    try folder.write("// a manifest\n", to: "Package.swift")
    let build = PluginBuild(folder: folder.path, isRelease: false)
    let name = build.sourceHash
    #expect(name.utf8.count == 10)
    // Files of Emacs and Vim, a pipe without a writer, and a circular link.
    #expect(symlink("me@here.1:2", folder.path("Sources/My/.#My.swift")) == 0)
    try folder.write("x", to: "Sources/My/.My.swift.swp")
    #expect(mkfifo(folder.path("Sources/My/pipe"), 0o600) == 0)
    #expect(symlink("..", folder.path("Sources/My/up")) == 0)
    #expect(build.sourceHash == name)
    try folder.write("let a = 2\n", to: "Sources/My/My.swift")
    let edited = build.sourceHash
    #expect(edited != name)
    try folder.write("// another manifest\n", to: "Package.swift")
    #expect(build.sourceHash != edited)
  }

  @Test(arguments: [
    ("tenant", "TenantPlugin"), ("my-plugin", "MyPlugin"), ("plugin", "PluginPlugin"), ("request", "RequestPlugin"),
    ("self-test", "SelfTestPlugin"), ("any", "AnyPlugin"), ("a-1", "A1Plugin"),
  ])
  func `the type of a new plugin in Swift conforms to Plugin`(_ name: String, _ type: String) {
    #expect(PluginTemplate.typeName(name) == type)
  }

  // MARK: Good builds

  @Test func `builds that are at fault are dropped, but the last remaining build of a library is kept`() {
    func build(_ hash: String) -> GoodBuilds.Build {
      GoodBuilds.Build(library: "l", plugins: ["a"], version: "1", hash: hash, generation: 1)
    }
    var good = GoodBuilds()
    for hash in ["1", "2", "3", "4", "5"] {
      good.adopt([build(hash)], candidates: [hash: Array(hash.utf8)], store: "/nowhere")
    }
    #expect(good.newest(of: "l")?.hash == "5" && good.serving["l"]?.hash == "5")
    good.drop(["5", "4"])
    #expect(good.newest(of: "l")?.hash == "3")
    good.drop(["3"])
    #expect(good.newest(of: "l")?.bytes == Array("3".utf8), "the only build that is left is not dropped")
    #expect(good.newest(of: "m") == nil)
  }

  // MARK: Events

  @Test func `an event is printed as a document with its name, or as a line with its plugins`() throws {
    let event = DevEvent(.buildFailed, plugins: ["auth"], "build\nfailed\u{1B}", tone: .bad).with("n", 1)
    #expect(
      "\(event.document(at: .zero))"
        == #"{"event":"build-failed","at":"1970-01-01T00:00:00.000Z","plugins":["auth"],"n":1}"#)
    let lines = DevEventText(terminal: Terminal(-1)).lines(event, at: .zero)
    #expect(lines.count == 1 && lines.first?.hasSuffix(#"auth         build failed\u{1B}"#) == true, "\(lines)")
    #expect(DevEventText(terminal: Terminal(-1)).lines(DevEvent(.changed), at: .zero).isEmpty)
  }

  // MARK: Requests

  @Test(arguments: [
    ("/a", "GET http://h/a"), ("a?b", "GET http://h/a?b"), ("DELETE http://x/", "DELETE http://x/"),
    (#" {"url": "c", "method": "PUT"}"#, "PUT http://h/c"), ("/ä", "GET http://h/%C3%A4"),
    (#"{"url": "http://bücher.example/ä"}"#, "GET http://xn--bcher-kva.example/%C3%A4"),
  ])
  func `a typed line is a URL, a method and a URL, or a document`(_ line: String, _ expected: String) throws {
    let request = try TypedRequest(line, from: HTTPURL("http://h/")).request
    #expect("\(request.method) \(request.url.string)" == expected)
  }

  @Test(arguments: ["", "a b c", "{", "[]", "http://", "/\u{0}", "GET", "ht!tp://x"])
  func `an invalid typed line is refused`(_ line: String) {
    #expect(throws: (any Error).self) { try TypedRequest(line, from: nil) }
  }

  @Test func `a listen address is a port, or an address and a port`() {
    func parsed(_ text: String) -> String? {
      switch ServeSettings.Listener(text)?.place {
      case .address(let host, let port): "\(host) \(port)"
      case .inherited(let name): "systemd \(name ?? "-")"
      case nil: nil
      }
    }
    #expect(parsed("80") == "127.0.0.1 80" && parsed(":80") == "127.0.0.1 80" && parsed("[::1]:8") == "::1 8")
    #expect(parsed("localhost:0") == "localhost 0")
    for text in ["", "x", ":", "80:", "1:65536", "-1"] { #expect(parsed(text) == nil, "\(text)") }
    for host in ["localhost", "localhost:80", "127.0.0.1:80", "[::1]:80", "a.localhost:1", "dev.test:9"] {
      #expect(HostField.isLocal(host, servedAs: "dev.test"), "\(host)")
    }
    for host in ["", "attacker.example", "127.0.0.1.attacker.example:80", "localhost.attacker.example"] {
      #expect(!HostField.isLocal(host, servedAs: "127.0.0.1"), "\(host)")
    }
  }
}
