package import SluiceMessages

extension ChunkEncoder {
  /// Appends the end of a chunked body: the size 0, the trailers and the empty line (RFC 9112 §7.1.2).
  package static func appendEnd(to buffer: inout [UInt8], trailers: HeaderFields) {
    buffer.append(contentsOf: "0\r\n".utf8)
    trailers.appendLines(to: &buffer)
    buffer.append(contentsOf: lineEnd)
  }
}

extension RequestHead {
  /// Adds the field `Trailer` to the head of a chunked request at the end of the buffer (RFC 9110 §6.6.2).
  package static func announce(_ trailers: HeaderFields, in buffer: inout [UInt8]) {
    let names = names(of: trailers)
    guard !names.isEmpty else { return }
    buffer.removeLast(ChunkEncoder.lineEnd.count)
    buffer.append(contentsOf: "Trailer: \(names)\r\n\r\n".utf8)
  }

  /// The value of `Trailer`, which contains each name once (RFC 9110 §6.6.2).
  package static func names(of trailers: HeaderFields) -> String {
    var names: [String] = []
    var seen: Set<String> = []
    for index in trailers.indices {
      let name = trailers.name(at: index)
      if seen.insert(name.lowercased()).inserted { names.append(name) }
    }
    return names.joined(separator: ", ")
  }
}
