import SluiceJSON
import SluiceMessages

/// A received request as a request document.
enum EchoDocument {
  static func make(of request: ServerRequest) throws -> JSONValue {
    let text = url(of: request)
    // The document shows the target that arrived, even if Sluice's client would never send such a target.
    let url = (try? HTTPURL(text)) ?? "http://localhost/"
    var message = Request(
      method: request.method, url: url, headers: fields(request.headers), body: .bytes(request.body))
    message.trailers = fields(request.trailers)
    let document = RequestDocument.make(message, body: .parsed)
    document["url"] = JSONValue(text)
    return document
  }

  private static func fields(_ lines: [HeaderLine]) -> HeaderFields {
    var fields = HeaderFields()
    for line in lines { fields.append(line.name.utf8.span, line.valueBytes.span) }
    return fields
  }

  /// The absolute URL of the request, made from its target and its Host field (RFC 9112 §3.3).
  private static func url(of request: ServerRequest) -> String {
    guard request.target.hasPrefix("/") || request.target == "*" else { return request.target }
    let host = request.headers.first("Host") ?? "localhost"
    return "http://\(host)" + (request.target == "*" ? "" : request.target)
  }
}
