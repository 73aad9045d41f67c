import SluiceMessages

/// Heads of messages as text, the way HTTP/1.1 writes them.
enum HeadText {
  static func of(_ response: Response) -> String {
    let fields = response.headers.map { "\($0.name): \($0.value)\r\n" }.joined()
    return "\(statusLine(response))\r\n\(fields)\r\n"
  }

  static func statusLine(_ response: Response) -> String {
    "HTTP/\(response.version?.rawValue ?? "1.1") \(response.status) \(reason(of: response))"
  }

  /// The usual text of a status (RFC 9110 §15), since a response does not keep its own; none in HTTP/2 and 3.
  private static func reason(of response: Response) -> String {
    guard response.version != .http2, response.version != .http3 else { return "" }
    return reasons[response.status] ?? ""
  }

  private static let reasons = [
    200: "OK", 201: "Created", 202: "Accepted", 203: "Non-Authoritative Information", 204: "No Content",
    205: "Reset Content", 206: "Partial Content", 300: "Multiple Choices", 301: "Moved Permanently", 302: "Found",
    303: "See Other", 304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request",
    401: "Unauthorized", 402: "Payment Required", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
    406: "Not Acceptable", 407: "Proxy Authentication Required", 408: "Request Timeout", 409: "Conflict", 410: "Gone",
    411: "Length Required", 412: "Precondition Failed", 413: "Content Too Large", 414: "URI Too Long",
    415: "Unsupported Media Type", 416: "Range Not Satisfiable", 417: "Expectation Failed", 421: "Misdirected Request",
    422: "Unprocessable Content", 425: "Too Early", 426: "Upgrade Required", 428: "Precondition Required",
    429: "Too Many Requests", 431: "Request Header Fields Too Large", 451: "Unavailable For Legal Reasons",
    500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
    504: "Gateway Timeout", 505: "HTTP Version Not Supported",
  ]
}
