import CNGHTTP2
import SluiceHTTP1
import SluiceMessages

/// The fields of a request in the form that nghttp2 takes. Because nghttp2 copies the bytes, one object serves all
/// requests of a transport, one after the other. Only the loop uses it.
final class HTTP2RequestFields {
  private struct Place {
    let name: Range<Int>
    let value: Range<Int>
    let isSecret: Bool
  }

  @exclusivity(unchecked) private var bytes: [UInt8] = []
  @exclusivity(unchecked) private var places: [Place] = []
  /// Whether there is a body and the request asks for a 100 response before it (RFC 9110 §10.1.1).
  private(set) var expectsContinue = false

  /// The list's memory is kept for the next request if it is not larger than this.
  private static let keptBytes = 65_536

  /// Collects the fields of one request: the pseudo fields (RFC 9113 §8.3.1), the transport's default fields that the
  /// request lacks, and the request's own fields. Fields that only a connection of HTTP/1 can have are left out
  /// (§8.2.2).
  func collect(
    _ request: borrowing Request, _ preamble: RequestHead.Preamble, _ fields: borrowing HeaderFields,
    _ framing: RequestHead.Framing
  ) {
    removeAll()
    let method = request.method
    let facts = RequestHead.facts(of: fields, method.utf8.span, framing)
    expectsContinue = facts.isExpectant
    let omitted = facts.omitted(request.omittedDefaults)
    let url = request.url
    let scheme = url.origin.scheme.rawValue
    let target = url.string.utf8.span.extracting(url.targetRange)
    let authority = preamble.host
    append(":method", method.utf8.span)
    append(":scheme", scheme.utf8.span)
    if facts.contains(.hasHost), let index = fields.firstIndex(named: "host".utf8.span) {
      append(":authority", fields.buffer.span.extracting(fields.valueRange(at: index)))
    } else {
      append(":authority", authority.span)
    }
    let isAbsolute = !target.isEmpty && target[0] == UInt8(ascii: "/")
    append(":path", target, prefix: isAbsolute ? [] : [UInt8(ascii: "/")])
    let defaults = preamble.defaults
    if let accept = defaults.accept, !omitted.contains(.accept) { append("accept", accept.utf8.span) }
    if let codings = defaults.codings, !omitted.contains(.acceptEncoding) {
      append("accept-encoding", codings.utf8.span)
    }
    if let agent = defaults.agent, !omitted.contains(.userAgent) { append("user-agent", agent.utf8.span) }
    append(fields) { RequestHead.isLeftOut($0, facts) }
    if case .length(let count) = framing {
      let text = "\(count)"
      append("content-length", text.utf8.span)
    }
    if request.hasTrailers {
      let names = RequestHead.names(of: request.trailers)
      append("trailer", names.utf8.span)
    }
  }

  /// Collects the trailers of a request.
  func collect(trailers: borrowing HeaderFields) {
    removeAll()
    append(trailers) { _ in false }
  }

  private func append(_ fields: borrowing HeaderFields, except isLeftOut: (Span<UInt8>) -> Bool) {
    for index in fields.indices {
      let name = fields.buffer.span.extracting(fields.nameRange(at: index))
      if isLeftOut(name) { continue }
      append(
        name, fields.buffer.span.extracting(fields.valueRange(at: index)),
        isSecret: fields.marks(at: index).contains(.sensitive))
    }
  }

  /// Passes the list to a function of nghttp2 that copies it.
  func withFields<Result>(_ body: (UnsafePointer<nghttp2_nv>?, Int) -> Result) -> Result {
    bytes.withUnsafeMutableBufferPointer { bytes in
      withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: places.count) { list in
        for (index, place) in places.enumerated() {
          let flags = place.isSecret ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE
          list.initializeElement(
            at: index,
            to: nghttp2_nv(
              name: bytes.baseAddress.map { $0 + place.name.lowerBound },
              value: bytes.baseAddress.map { $0 + place.value.lowerBound }, namelen: place.name.count,
              valuelen: place.value.count, flags: UInt8(flags.rawValue)))
        }
        return body(list.baseAddress, places.count)
      }
    }
  }

  /// The head as text in the form of HTTP/1, for people.
  var text: [UInt8] {
    let line = places.prefix(4).map { bytes[$0.value] }
    guard line.count == 4 else { return [] }
    var text = line[0] + [UInt8(ascii: " ")] + line[3] + Array(" HTTP/2\r\nHost: ".utf8) + line[2] + [0x0D, 0x0A]
    for place in places.dropFirst(4) {
      text += bytes[place.name] + [UInt8(ascii: ":"), UInt8(ascii: " ")] + bytes[place.value] + [0x0D, 0x0A]
    }
    return Array(text) + [0x0D, 0x0A]
  }

  private func removeAll() {
    expectsContinue = false
    let keeps = bytes.capacity <= Self.keptBytes
    bytes.removeAll(keepingCapacity: keeps)
    places.removeAll(keepingCapacity: keeps)
  }

  private func append(_ name: StaticString, _ value: Span<UInt8>, prefix: [UInt8] = []) {
    let start = bytes.count
    name.withUTF8Buffer { bytes.append(contentsOf: $0) }
    let end = bytes.count
    bytes.append(contentsOf: prefix)
    bytes.append(copying: value)
    places.append(Place(name: start..<end, value: end..<bytes.count, isSecret: false))
  }

  private func append(_ name: Span<UInt8>, _ value: Span<UInt8>, isSecret: Bool) {
    let start = bytes.count
    bytes.append(addingCapacity: name.count + value.count) { output in
      for index in name.indices { output.append(name[index].asciiLowercased) }
      output.append(copying: value)
    }
    let end = start + name.count
    places.append(Place(name: start..<end, value: end..<bytes.count, isSecret: isSecret))
  }
}
