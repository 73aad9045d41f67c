import CLinux
import Glibc
import SluiceMessages
import SluicePluginFile
import SluiceSupport

/// `--list PROGRAM`: whether attach can reach the transfers of a program, as far as its files show. Runs none of its
/// code.
struct ProgramReach {
  /// The lines of the report, in the order in which they are printed.
  private(set) var lines: [String] = []
  /// Whether attach reaches the transfers of the program.
  private(set) var answer = Answer.never

  enum Answer {
    case reached, never
    /// It depends on modules that the program opens, or on programs that it starts.
    case perhaps
  }

  private static let limitBytes = 512 << 20

  init(_ word: String) throws(CommandError) {
    let found = try Self.found(word)
    guard let file = Paths.resolved(found) else { throw ProgramPath.failure(word, errno) }
    lines.append("\(word): \(file)")
    guard let bytes = Self.content(of: file) else {
      throw CommandError(.failed, "attach: \(PlainText.path(file)): cannot be read: \(SystemError.text())")
    }
    describe(file, bytes, depth: 0)
  }

  /// A shared library can be examined without being executable.
  private static func found(_ word: String) throws(CommandError) -> String {
    do { return try ProgramPath.found(word) } catch {
      guard word.contains("/"), case .sharedLibrary? = ProgramFacts(at: word, lookingFor: [])?.form else { throw error }
      return word
    }
  }

  private mutating func describe(_ file: String, _ bytes: [UInt8], depth: Int) {
    if let head = ScriptHead(bytes) { return describeInterpreter(of: head, depth: depth) }
    if Self.isPrivileged(file) {
      return add("not reached: it is setuid, setgid or has capabilities, so the loader ignores LD_PRELOAD")
    }
    let facts = ProgramFacts(at: file, lookingFor: Self.jsonFunctions.union(ReachByOthers.functions))
    if bytes.starts(with: "\u{7F}ELF\u{1}".utf8) {
      let words = "it is a 32-bit program; if it runs here, its loader says so on its standard error"
      return add(unreached: words, facts, file)
    }
    guard let facts else { return add("not reached: it is not a program for this machine") }
    switch facts.form {
    case .program: describe(facts, file, bytes)
    case .sharedLibrary: add("not reached: it is a shared library, not a program")
    case .truncated: add("not reached: its file is truncated")
    case .other: add("not reached: it is not a program for this machine")
    }
  }

  private mutating func add(_ line: String) { lines.append("  \(line)") }

  /// The program itself is not reached, but programs that it starts may be.
  private mutating func add(unreached reason: String, _ facts: ProgramFacts?, _ file: String) {
    add("not reached: \(reason)")
    if let facts { add(perhapsByOthersOf: facts, file, Self.libraries(of: facts, file), hasModules: false) }
  }

  /// - Returns: whether there is a reason.
  @discardableResult
  private mutating func add(
    perhapsByOthersOf facts: ProgramFacts, _ file: String, _ libraries: [String], hasModules: Bool
  ) -> Bool {
    let others = ReachByOthers(facts, libraries, hasModules: hasModules)
    for reason in others.reasons { add("perhaps reached: \(reason)") }
    if !others.reasons.isEmpty { answer = .perhaps }
    return !others.reasons.isEmpty
  }

  private static func libraries(of facts: ProgramFacts, _ file: String) -> [String] {
    facts.loader.map { DynamicLoader(path: $0).libraries(of: file) } ?? []
  }

  /// The maximum depth of nested scripts: the interpreter of a script can be a script itself. This is the limit of the
  /// kernel.
  private static let maximumDepth = 4

  private mutating func describeInterpreter(of head: ScriptHead, depth: Int) {
    let name = String(decoding: head.interpreter, as: UTF8.self)
    guard depth < Self.maximumDepth, let found = ProgramPath.find(head.interpreter),
      let file = Paths.resolved(String(decoding: found, as: UTF8.self)), let bytes = Self.content(of: file)
    else { return add("not reached: it is a script for \(name), which cannot be run") }
    add("a script for \(name): \(file)")
    describe(file, bytes, depth: depth + 1)
  }

  private static let jsonFunctions: Set<String> = ["json_object", "json_loadb", "json_string", "json_delete"]

  private mutating func describe(_ facts: ProgramFacts, _ file: String, _ bytes: [UInt8]) {
    let own = EmbeddedLibcurl(in: bytes)
    guard let loader = facts.loader else {
      let words = own.map { "; \($0.description)" } ?? ""
      return add(
        unreached: "it is linked statically, so the loader cannot preload a library\(words)", facts, file)
    }
    guard !Paths.name(of: loader).hasPrefix("ld-musl-") else {
      return add(unreached: "its C library is musl, and attach works with glibc only", facts, file)
    }
    guard facts.exports.isDisjoint(with: Self.jsonFunctions) else {
      let words = "it exports functions named like those of libjansson, and plugins would call them"
      return add(unreached: words, facts, file)
    }
    let libraries = Self.libraries(of: facts, file)
    let found = libraries.filter { Self.isLibcurl(Paths.name(of: $0)) }
    for library in found { describe(library: library) }
    guard answer != .reached else { return }
    if found.isEmpty, let own { add("not reached: \(own.description)") }
    let hasModules = found.isEmpty && own == nil
    let isPerhaps = add(perhapsByOthersOf: facts, file, libraries, hasModules: hasModules)
    guard hasModules, !isPerhaps else { return }
    add("not reached: it is not linked with libcurl, and neither opens modules nor starts programs")
  }

  private static func isLibcurl(_ name: String) -> Bool { name.hasPrefix("libcurl.") || name.hasPrefix("libcurl-") }

  private mutating func describe(library: String) {
    let bytes = Self.content(of: Paths.resolved(library) ?? library) ?? []
    let version = EmbeddedLibcurl(in: bytes)?.version
    let flavour = Self.flavours.first { Self.contains(bytes, $0.mark) }?.name
    let details = [version, flavour].compactMap(\.self).joined(separator: ", ")
    let words = details.isEmpty ? library : "\(library) (\(details))"
    if let version, Self.isTooOld(version) { return add("not reached: \(words) is older than 7.83") }
    answer = .reached
    add("reached: \(words)")
  }

  private static let flavours = [
    (mark: "CURL_OPENSSL", name: "OpenSSL"), (mark: "CURL_GNUTLS", name: "GnuTLS"), (mark: "CURL_NSS", name: "NSS"),
  ]

  private static func isTooOld(_ version: String) -> Bool {
    let numbers = version.split { $0 == "/" || $0 == "." }.compactMap { Int($0) }
    return numbers.lexicographicallyPrecedes([7, 83])
  }

  private static func contains(_ bytes: [UInt8], _ text: String) -> Bool {
    ByteSearch.first(text, in: bytes) != nil
  }

  // MARK: Files

  private static func content(of file: String) -> [UInt8]? {
    guard let opened = FileDescriptor(opening: file, O_RDONLY | O_NONBLOCK), let status = opened.status(),
      status.isRegularFile, status.st_size <= limitBytes
    else { return nil }
    return opened.readAll(capacity: Int(status.st_size))
  }

  private static func isPrivileged(_ file: String) -> Bool {
    var status = stat()
    guard stat(file, &status) == 0 else { return false }
    if status.st_mode & (S_ISUID | S_ISGID) != 0 { return status.st_uid != geteuid() || status.st_mode & S_ISGID != 0 }
    return getxattr(file, "security.capability", nil, 0) > 0
  }
}
