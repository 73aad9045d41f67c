import SluiceMessages
import SluiceServer

/// Heads of messages as text, in the form of HTTP/1.1.
enum HeadText {
  static func of(_ response: Response) -> String {
    let fields = response.headers.map { "\($0.name): \($0.value)\r\n" }.joined()
    return "\(statusLine(response))\r\n\(fields)\r\n"
  }

  static func statusLine(_ response: Response) -> String {
    "HTTP/\(response.version?.rawValue ?? "1.1") \(response.status) \(reason(of: response))"
  }

  /// The usual reason phrase of a status (RFC 9110 §15). The phrase that the server sent is not available, because a
  /// response does not store it. HTTP/2 and HTTP/3 have no reason phrase.
  private static func reason(of response: Response) -> String {
    guard response.version != .http2, response.version != .http3 else { return "" }
    return ServerLibrary.reason(of: response.status)
  }
}
