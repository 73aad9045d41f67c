package import SluiceServer

/// The start line and the header lines of an HTTP/1 message. They are parsed leniently and not validated, because tests
/// examine them.
package struct MessageHead: Sendable {
  package let startLine: String
  package let headers: [HeaderLine]

  /// Parses the bytes of a head up to and including the blank line.
  init(_ bytes: [UInt8]) {
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\r\n")
    startLine = lines.first.map(String.init) ?? ""
    headers = lines.dropFirst().map { line in
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      let value = parts.count > 1 ? parts[1].drop { $0 == " " } : ""
      return HeaderLine(String(parts[0]), String(value))
    }
  }

  package var contentLength: Int? { headers.first("Content-Length").flatMap { Int($0) } }
  package var isChunked: Bool { headers.first("Transfer-Encoding")?.hasSuffix("chunked") ?? false }

  /// The position after the blank line that ends the head; nil if the head is not complete.
  static func end(in bytes: [UInt8]) -> Int? {
    var index = 3
    while index < bytes.count {
      if bytes[index] == 10, bytes[index - 1] == 13, bytes[index - 2] == 10, bytes[index - 3] == 13 {
        return index + 1
      }
      index += 1
    }
    return nil
  }
}
