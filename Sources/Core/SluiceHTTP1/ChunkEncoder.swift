/// Writes the framing of a request body in chunked coding (RFC 9112 §7.1).
package enum ChunkEncoder {
  /// Appends the size of a chunk. The caller must append the data and CRLF.
  package static func append(to buffer: inout [UInt8], dataBytes count: Int) {
    buffer.append(contentsOf: String(count, radix: 16).utf8)
    buffer.append(contentsOf: [0x0D, 0x0A])
  }

  /// The end of a chunked body without trailers.
  package static let end: [UInt8] = Array("0\r\n\r\n".utf8)
  package static let lineEnd: [UInt8] = [0x0D, 0x0A]
}
