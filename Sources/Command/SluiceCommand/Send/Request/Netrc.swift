import Glibc
import SluiceMessages
import SluiceSupport

/// Users and passwords for hosts, from a file that ftp and curl read too: `machine HOST login USER password PASSWORD`.
/// Users and passwords are bytes, which need not be UTF-8.
struct Netrc {
  struct Entry: Equatable {
    /// Nil for the keyword `default`, which means all hosts.
    var host: String?
    var user: [UInt8]?
    var password: [UInt8]?
  }

  private(set) var entries: [Entry] = []

  /// - Throws: an error with the number of the line.
  init(_ text: some Collection<UInt8>, file: String) throws(CommandError) {
    var isMacro = false
    for (number, line) in Array(text).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .enumerated()
    {
      // A macro ends with an empty line.
      if isMacro {
        isMacro = !line.allSatisfy(Self.isSpace)
        continue
      }
      do throws(Fault) { isMacro = try read(line) } catch {
        throw CommandError(.usage, "send: \(PlainText.path(file)):\(number + 1): \(error.message)")
      }
    }
    if let pending {
      throw CommandError(.usage, "send: \(PlainText.path(file)): \"\(pending)\" at the end has no value")
    }
  }

  /// The first entry that matches the host and the user. An entry without a host matches all hosts. As with curl, an
  /// entry with only a password applies to any user if no entry names the user, and an entry without both is ignored.
  ///
  /// - Parameter user: the user that the URL names; nil accepts any user.
  func entry(for host: String, user: [UInt8]?) -> Entry? {
    let matching = entries.filter { $0.host == nil || $0.host == host.lowercased() }
    return matching.first { $0.user != nil && (user == nil || $0.user == user) }
      ?? matching.first { $0.user == nil && $0.password != nil }
  }

  private struct Fault: Error { let message: String }

  /// A keyword whose value has not been read yet; it can be on a later line.
  private var pending: String?

  /// Reads a line. Returns whether a macro begins.
  private mutating func read(_ line: ArraySlice<UInt8>) throws(Fault) -> Bool {
    var rest = line
    while let word = try Self.word(&rest) {
      if let keyword = pending {
        pending = nil
        try set(keyword, word)
        continue
      }
      let name = String(decoding: word, as: UTF8.self)
      switch name {
      case "machine", "login", "password", "account": pending = name
      case "default": entries.append(Entry())
      case "macdef": return true
      default:
        throw Fault(message: "expected machine, default, login, password or account, found something else")
      }
    }
    return false
  }

  private mutating func set(_ keyword: String, _ value: [UInt8]) throws(Fault) {
    if keyword == "machine" {
      return entries.append(Entry(host: String(decoding: value, as: UTF8.self).lowercased()))
    }
    guard let last = entries.indices.last else { throw Fault(message: "\"\(keyword)\" is before the first machine") }
    if keyword == "login" { entries[last].user = value }
    if keyword == "password" { entries[last].password = value }
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

  /// Reads the next word of the line, which can be in double quotes. Returns nil at the end or at a comment.
  private static func word(_ rest: inout ArraySlice<UInt8>) throws(Fault) -> [UInt8]? {
    let quote = UInt8(ascii: "\"")
    rest = rest.drop(while: isSpace)
    guard let first = rest.first, first != UInt8(ascii: "#") else { return nil }
    guard first == quote else {
      let word = rest.prefix { !isSpace($0) }
      rest = rest[word.endIndex...]
      return Array(word)
    }
    rest.removeFirst()
    let escapes = [UInt8(ascii: "n"): UInt8(0x0A), UInt8(ascii: "r"): 0x0D, UInt8(ascii: "t"): 0x09]
    var word: [UInt8] = []
    while let byte = rest.popFirst() {
      if byte == quote { return word }
      guard byte == UInt8(ascii: "\\"), let next = rest.popFirst() else {
        word.append(byte)
        continue
      }
      word.append(escapes[next] ?? next)
    }
    throw Fault(message: "\" has no end")
  }

  /// The file of `--netrc-file`, or `.netrc` in the home folder; nil without these options.
  static func read(_ arguments: ParsedArguments) throws(CommandError) -> Netrc? {
    let named = arguments["netrc-file"]
    guard named != nil || arguments.has("netrc") || arguments.has("netrc-optional") else { return nil }
    let home = getenv("HOME").map { String(cString: $0) } ?? ""
    let path = named ?? "\(home)/.netrc"
    // As with curl, a missing file counts as empty.
    if named == nil || arguments.has("netrc-optional"), SystemPath.status(of: path) == nil { return nil }
    let content = try DataReader(limitBytes: 1 << 20).text(ofFile: path, named == nil ? "-n" : "--netrc-file")
    return try Netrc(content, file: path)
  }
}
