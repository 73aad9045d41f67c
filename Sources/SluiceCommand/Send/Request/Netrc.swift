import Glibc
import SluiceMessages

/// Users and passwords for hosts, from a file that ftp and curl read too: `machine HOST login USER password PASSWORD`.
struct Netrc {
  struct Entry: Equatable {
    /// Nil for the keyword `default`, which means all hosts.
    var host: String?
    var user: String?
    var password: String?
  }

  private(set) var entries: [Entry] = []

  /// - Throws: an error with the number of the line.
  init(_ text: String, file: String) throws(CommandError) {
    var isMacro = false
    for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      // A macro ends with an empty line.
      if isMacro {
        isMacro = !line.allSatisfy(\.isWhitespace)
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

  /// The first entry that matches the host and the user. An entry without a host matches all hosts.
  ///
  /// - Parameter user: the user that the URL names; nil accepts any user.
  func entry(for host: String, user: String?) -> Entry? {
    entries.first { ($0.host == nil || $0.host == host.lowercased()) && (user == nil || $0.user == user) }
  }

  private struct Fault: Error { let message: String }

  /// A keyword whose value has not been read yet; it can be on a later line.
  private var pending: String?

  /// Reads a line. Returns whether a macro begins.
  private mutating func read(_ line: Substring) throws(Fault) -> Bool {
    var rest = line
    while let word = try Self.word(&rest) {
      if let keyword = pending {
        pending = nil
        try set(keyword, word)
        continue
      }
      switch word {
      case "machine", "login", "password", "account": pending = word
      case "default": entries.append(Entry())
      case "macdef": return true
      default:
        throw Fault(message: "expected machine, default, login, password or account, found something else")
      }
    }
    return false
  }

  private mutating func set(_ keyword: String, _ value: String) throws(Fault) {
    if keyword == "machine" { return entries.append(Entry(host: value.lowercased())) }
    guard let last = entries.indices.last else { throw Fault(message: "\"\(keyword)\" is before the first machine") }
    if keyword == "login" { entries[last].user = value }
    if keyword == "password" { entries[last].password = value }
  }

  /// Reads the next word of the line, which can be in double quotes. Returns nil at the end or at a comment.
  private static func word(_ rest: inout Substring) throws(Fault) -> String? {
    rest = rest.drop(while: \.isWhitespace)
    guard let first = rest.first, first != "#" else { return nil }
    guard first == "\"" else {
      let word = rest.prefix { !$0.isWhitespace }
      rest = rest[word.endIndex...]
      return String(word)
    }
    rest.removeFirst()
    var word = ""
    while let character = rest.popFirst() {
      if character == "\"" { return word }
      guard character == "\\", let next = rest.popFirst() else {
        word.append(character)
        continue
      }
      word.append(["n": "\n", "r": "\r", "t": "\t"][next] ?? next)
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
    if named == nil || arguments.has("netrc-optional"), access(path, F_OK) != 0 { return nil }
    let content = try DataReader(limitBytes: 1 << 20).content(ofFile: path, named == nil ? "-n" : "--netrc-file")
    return try Netrc(String(decoding: content, as: UTF8.self), file: path)
  }
}
