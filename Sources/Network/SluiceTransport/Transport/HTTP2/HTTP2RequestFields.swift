import CNGHTTP2
import SluiceHTTP1
import SluiceMessages

/// The fields of a request in the form that nghttp2 takes. Because nghttp2 copies the bytes, one object serves all
/// requests of a transport, one after the other. Only the loop uses it.
final class HTTP2RequestFields {
  @exclusivity(unchecked) private var list = HTTP2FieldList()
  /// Whether there is a body and the request asks for a 100 response before it (RFC 9110 §10.1.1).
  private(set) var expectsContinue = false

  /// Collects the fields of one request: the pseudo fields (RFC 9113 §8.3.1), the transport's default fields that the
  /// request lacks, and the request's own fields. Fields that only a connection of HTTP/1 can have are left out
  /// (§8.2.2).
  func collect(
    _ request: borrowing Request, _ preamble: RequestHead.Preamble, _ fields: borrowing HeaderFields,
    _ framing: RequestHead.Framing
  ) {
    list.removeAll()
    let method = request.method
    let facts = RequestHead.facts(of: fields, method.utf8.span, framing)
    expectsContinue = facts.isExpectant
    let omitted = facts.omitted(request.omittedDefaults)
    let url = request.url
    let scheme = url.origin.scheme.rawValue
    let target = url.string.utf8.span.extracting(url.targetRange)
    let authority = preamble.host
    list.append(":method", method.utf8.span)
    list.append(":scheme", scheme.utf8.span)
    if facts.contains(.hasHost), let index = fields.firstIndex(named: "host".utf8.span) {
      list.append(":authority", fields.buffer.span.extracting(fields.valueRange(at: index)))
    } else {
      list.append(":authority", authority.span)
    }
    let isAbsolute = !target.isEmpty && target[0] == UInt8(ascii: "/")
    list.append(":path", target, prefix: isAbsolute ? [] : [UInt8(ascii: "/")])
    let defaults = preamble.defaults
    if let accept = defaults.accept, !omitted.contains(.accept) { list.append("accept", accept.utf8.span) }
    if let codings = defaults.codings, !omitted.contains(.acceptEncoding) {
      list.append("accept-encoding", codings.utf8.span)
    }
    if let agent = defaults.agent, !omitted.contains(.userAgent) { list.append("user-agent", agent.utf8.span) }
    list.append(fields) { RequestHead.isLeftOut($0, facts) }
    // The one field of a connection that HTTP/2 has (RFC 9113 §8.2.2).
    if let index = fields.firstIndex(named: "te".utf8.span), fields.asksForTrailers(at: index) {
      list.append("te", "trailers".utf8.span)
    }
    if case .length(let count) = framing {
      list.append("content-length", decimal: count)
    }
    if request.hasTrailers {
      let names = RequestHead.names(of: request.trailers)
      list.append("trailer", names.utf8.span)
    }
  }

  /// Collects the trailers of a request.
  func collect(trailers: borrowing HeaderFields) {
    list.removeAll()
    list.append(trailers) { _ in false }
  }

  /// Passes the list to a function of nghttp2 that copies it.
  func withFields<Result>(_ body: (UnsafePointer<nghttp2_nv>?, Int) -> Result) -> Result { list.withFields(body) }

  /// The head as text in the form of HTTP/1, for people.
  var text: [UInt8] {
    let lines = list.lines
    guard lines.count >= 4 else { return [] }
    var text = lines[0].value + [UInt8(ascii: " ")] + lines[3].value + Array(" HTTP/2\r\nHost: ".utf8)
    text += lines[2].value + [0x0D, 0x0A]
    for line in lines.dropFirst(4) {
      text += line.name + [UInt8(ascii: ":"), UInt8(ascii: " ")] + line.value + [0x0D, 0x0A]
    }
    return Array(text) + [0x0D, 0x0A]
  }
}
