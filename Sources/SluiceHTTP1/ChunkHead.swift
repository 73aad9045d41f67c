/// Writes the framing of a request body in chunked coding (RFC 9112 §7.1).
package enum ChunkHead {
  /// Appends the size of a chunk; the data and CRLF come after it.
  package static func append(to buffer: inout [UInt8], dataBytes count: Int) {
    buffer.append(contentsOf: String(count, radix: 16).utf8)
    buffer.append(contentsOf: [0x0D, 0x0A])
  }

  /// What follows the last chunk, if there are no trailers.
  package static let end: [UInt8] = Array("0\r\n\r\n".utf8)
  package static let lineEnd: [UInt8] = [0x0D, 0x0A]
}
