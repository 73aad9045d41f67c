import CLinux
import Glibc
import SluiceMessages
import SluicePluginFile
import SluiceSupport

/// `--list PROGRAM`: whether attach can reach the transfers of a program, as far as its files tell. Runs none of its
/// code.
struct ProgramReach {
  /// In the order of the text.
  private(set) var lines: [String] = []
  /// Whether its transfers, or those of what it loads and starts, can go through the pipeline.
  private(set) var isReached = false

  private static let limitBytes = 512 << 20

  init(_ word: String) throws(CommandError) {
    guard let found = ProgramPath.find(Array(word.utf8)),
      let file = Paths.resolved(String(decoding: found, as: UTF8.self))
    else {
      throw CommandError(ExitStatus(code: 127), "attach: \(PlainText.path(word)): no such program on PATH")
    }
    lines.append("\(word): \(file)")
    guard let bytes = Self.content(of: file) else {
      throw CommandError(.failed, "attach: \(PlainText.path(file)): cannot be read: \(SystemError.text())")
    }
    describe(file, bytes)
  }

  private mutating func describe(_ file: String, _ bytes: [UInt8]) {
    if bytes.starts(with: "#!".utf8) { return describeScript(bytes) }
    if Self.isPrivileged(file) {
      return add("not reached: it is setuid, setgid or has capabilities, so the loader ignores LD_PRELOAD")
    }
    guard let facts = ProgramFacts(at: file, lookingFor: Self.jsonFunctions) else {
      return add("not reached: it is not an ELF program")
    }
    describe(facts, file, bytes)
  }

  private mutating func add(_ line: String) { lines.append("  \(line)") }

  private mutating func describeScript(_ bytes: [UInt8]) {
    let line = String(decoding: bytes.prefix(256).prefix { $0 != UInt8(ascii: "\n") }.dropFirst(2), as: UTF8.self)
    isReached = true
    add("a script; ask for its interpreter:\(line.hasPrefix(" ") ? "" : " ")\(PlainText.line(line))")
  }

  private static let jsonFunctions: Set<String> = ["json_object", "json_loadb", "json_string", "json_delete"]

  private mutating func describe(_ facts: ProgramFacts, _ file: String, _ bytes: [UInt8]) {
    let own = Self.version(in: bytes).map { " (\($0))" }
    guard let loader = facts.loader else {
      let words = own.map { "; it contains a libcurl of its own\($0)" } ?? ""
      return add("not reached: it is linked statically, so the loader can put no library into it\(words)")
    }
    guard facts.exports.isEmpty else {
      return add("not reached: it exports functions with the names of libjansson, which plugins would call")
    }
    let found = DynamicLoader(path: loader).libraries(of: file).filter { Paths.name(of: $0).hasPrefix("libcurl") }
    if found.isEmpty, let own { return add("not reached: it contains a libcurl of its own\(own)") }
    isReached = true
    for library in found { add("reached: \(Self.words(of: library))") }
    guard found.isEmpty else { return }
    add(
      "uses no libcurl itself; what the libraries that it opens later and the programs that it starts send is reached")
  }

  private static func words(of library: String) -> String {
    guard let bytes = content(of: Paths.resolved(library) ?? library) else { return library }
    let flavour = ["CURL_OPENSSL", "CURL_GNUTLS", "CURL_NSS"].first { Self.contains(bytes, $0) }
    return [library, version(in: bytes), flavour.map { "symbol version \($0)…" }].compactMap(\.self)
      .joined(separator: ", ")
  }

  /// `libcurl/7.88.1`, which every libcurl contains.
  private static func version(in bytes: [UInt8]) -> String? {
    let mark = Array("libcurl/".utf8)
    var rest = bytes[...]
    while let start = rest.firstRange(of: mark) {
      let digits = bytes[start.upperBound...].prefix { $0 == UInt8(ascii: ".") || (0x30...0x39).contains($0) }
      if digits.count >= 5 { return String(decoding: mark + digits, as: UTF8.self) }
      rest = bytes[start.upperBound...]
    }
    return nil
  }

  private static func contains(_ bytes: [UInt8], _ text: String) -> Bool {
    bytes.firstRange(of: Array(text.utf8)) != nil
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
