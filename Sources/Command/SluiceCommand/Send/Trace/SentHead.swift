import SluiceMessages

/// A request head as it was sent, for display: without line ends, and with secrets hidden.
struct SentHead {
  let lines: [String]

  /// - Parameter hidden: the names of fields, in lower case, whose values are secrets in this request.
  init(_ bytes: [UInt8], _ mask: SecretMask, hiding hidden: Set<String>) {
    var rest = bytes.split(separator: UInt8(ascii: "\n")).map { line in
      String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
    }[...]
    guard let first = rest.popFirst(), let requestLine = Self.requestLine(first, mask) else {
      // These bytes continue an earlier part of the head. They are not shown, because they could contain a secret.
      lines = ["(\(bytes.count) more bytes of the head)"]
      return
    }
    lines = [requestLine] + rest.filter { !$0.isEmpty }.map { Self.field($0, mask, hidden) }
  }

  /// `METHOD TARGET VERSION` with the secrets of the target hidden; nil for any other line.
  private static func requestLine(_ line: String, _ mask: SecretMask) -> String? {
    let words = line.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 3, words[2].hasPrefix("HTTP/") else { return nil }
    return "\(words[0]) \(mask.target(String(words[1]))) \(words[2])"
  }

  private static func field(_ line: String, _ mask: SecretMask, _ hidden: Set<String>) -> String {
    guard let colon = line.firstIndex(of: ":") else { return line }
    let name = String(line[..<colon])
    let value = String(line[line.index(after: colon)...].drop { $0 == " " })
    let isHidden = hidden.contains(name.lowercased())
    return "\(name): \(isHidden ? Redactor.placeholder : mask.value(value, ofHeader: name))"
  }
}
