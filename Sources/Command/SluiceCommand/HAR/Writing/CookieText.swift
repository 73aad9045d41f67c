import Sluice
import SluiceAssembly
import SluiceJSON
import SluiceMessages

/// The cookies of an entry. Their values are secrets, so only names and attributes are written.
enum CookieText {
  /// - Parameter lines: the values of `Cookie`.
  static func add(sent lines: [String], to list: inout JSONText) {
    for pair in lines.flatMap({ $0.parts(between: UInt8(ascii: ";")) }) {
      list.object { cookie in
        cookie.text("name", name(of: pair))
        cookie.text("value", Redactor.placeholder)
      }
    }
  }

  /// - Parameters:
  ///   - lines: the values of `Set-Cookie` (RFC 6265 §5.2).
  ///   - time: when they were received, for a lifetime in seconds.
  static func add(received lines: [String], at time: Duration, to list: inout JSONText) {
    for line in lines {
      let pieces = line.parts(between: UInt8(ascii: ";"))
      list.object { cookie in
        cookie.text("name", name(of: pieces.first))
        cookie.text("value", Redactor.placeholder)
        add(Attributes(pieces.dropFirst().map(attribute)), at: time, to: &cookie)
      }
    }
  }

  private struct Attributes {
    private let list: [(name: String, value: String?)]

    init(_ list: [(name: String, value: String?)]) { self.list = list }

    /// If several attributes have this name, the last one counts.
    subscript(name: String) -> String? { list.last { $0.name.lowercased() == name }?.value }

    func has(_ name: String) -> Bool { list.contains { $0.name.lowercased() == name } }
  }

  private static func add(_ attributes: Attributes, at time: Duration, to cookie: inout JSONText) {
    if let path = attributes["path"] { cookie.text("path", path) }
    if let domain = attributes["domain"] { cookie.text("domain", domain) }
    if let end = end(attributes, at: time) { cookie.text("expires", UniversalTime.text(end)) }
    cookie.flag("httpOnly", attributes.has("httponly"))
    cookie.flag("secure", attributes.has("secure"))
    if let site = attributes["samesite"] { cookie.text("_sameSite", site) }
  }

  /// `Max-Age` takes precedence over `Expires`.
  private static func end(_ attributes: Attributes, at time: Duration) -> Duration? {
    if let age = attributes["max-age"].flatMap({ Int64($0) }) { return time + .seconds(min(max(0, age), maximumAge)) }
    let now = HTTPDate(secondsSince1970: time.components.seconds)
    return attributes["expires"].flatMap { HTTPDate($0, now: now) }.map { .seconds($0.secondsSince1970) }
  }

  /// A hundred years.
  private static let maximumAge: Int64 = 100 * 365 * 86_400

  private static func attribute(_ piece: Substring) -> (name: String, value: String?) {
    guard let (name, value) = piece.parts(around: UInt8(ascii: "=")) else { return (piece.trimmedBlanks, nil) }
    return (name.trimmedBlanks, value.trimmedBlanks)
  }

  /// Empty if there is no equals sign. The whole text is then the value, which is a secret.
  private static func name(of piece: Substring?) -> String {
    piece?.parts(around: UInt8(ascii: "="))?.before.trimmedBlanks ?? ""
  }
}
