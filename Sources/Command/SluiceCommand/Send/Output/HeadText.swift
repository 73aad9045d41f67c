import SluiceMessages
import SluiceServer

/// Heads of messages in the form of HTTP/1.1.
enum HeadText {
  /// The bytes of a head. Values are written as they were received, UTF-8 or not.
  static func of(_ response: Response) -> [UInt8] {
    var head = Array("\(statusLine(response))\r\n".utf8)
    let fields = response.headers
    for index in fields.indices {
      head += fields.buffer[fields.nameRange(at: index)] + ": ".utf8 + fields.buffer[fields.valueRange(at: index)]
      head += "\r\n".utf8
    }
    return head + "\r\n".utf8
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
