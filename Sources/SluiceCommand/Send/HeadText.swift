import SluiceMessages

/// Heads of messages as text, the way HTTP/1.1 writes them.
enum HeadText {
  static func of(_ response: Response) -> String {
    let fields = response.headers.map { "\($0.name): \($0.value)\r\n" }.joined()
    return "\(statusLine(response))\r\n\(fields)\r\n"
  }

  static func statusLine(_ response: Response) -> String {
    "HTTP/\(response.version?.rawValue ?? "1.1") \(response.status)"
  }
}
