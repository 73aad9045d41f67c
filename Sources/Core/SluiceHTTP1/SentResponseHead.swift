package import SluiceMessages

/// Writes the head of a response (RFC 9112 §4, §5).
///
/// Fields that frame a message or belong to one connection (RFC 9110 §7.6.1) are left out, because the writer adds its
/// own.
package enum SentResponseHead {
  /// What the fields say about the body.
  package enum Framing: Sendable, Hashable {
    /// Nothing, because no response with this status has a body (RFC 9110 §6.4.1), or the length is not known and no body
    /// follows.
    case none
    /// Also the length of a body that is left out, in the answer to HEAD and with 304 (RFC 9110 §8.6).
    case length(Int)
    case chunked
    /// The body ends with the connection; for clients that speak HTTP/1.0.
    case close
  }

  /// What becomes of the connection after the response.
  package enum Persistence: Sendable, Hashable {
    /// It stays open, as is usual in HTTP/1.1.
    case stays
    /// It stays open, and the client must be told, because it speaks HTTP/1.0.
    case staysForOldClient
    case closes
  }

  /// Appends a head to a buffer.
  /// - Parameter status: from 100 to 999.
  package static func append(
    to buffer: inout [UInt8], status: Int, _ fields: HeaderFields, _ framing: Framing, _ persistence: Persistence
  ) {
    buffer.append("HTTP/1.1 ")
    buffer.append(decimal: status)
    buffer.append(UInt8(ascii: " "))
    buffer.append(reason(of: status))
    buffer.append("\r\n")
    fields.appendLines(to: &buffer)
    switch framing {
    case .none, .close: break
    case .length(let count):
      buffer.append("Content-Length: ")
      buffer.append(decimal: count)
      buffer.append("\r\n")
    case .chunked: buffer.append("Transfer-Encoding: chunked\r\n")
    }
    if persistence == .closes || framing == .close {
      buffer.append("Connection: close\r\n")
    } else if persistence == .staysForOldClient {
      buffer.append("Connection: keep-alive\r\n")
    }
    buffer.append("\r\n")
  }

  /// Whether a response with this status never has a body (RFC 9110 §6.4.1).
  package static func hasNoBody(status: Int) -> Bool { status < 200 || status == 204 || status == 304 }

  /// The reason phrase (RFC 9110 §15); empty for a status that is not registered. Clients ignore it.
  package static func reason(of status: Int) -> StaticString {
    switch status {
    case 100: "Continue"
    case 103: "Early Hints"
    case 200: "OK"
    case 201: "Created"
    case 202: "Accepted"
    case 203: "Non-Authoritative Information"
    case 204: "No Content"
    case 205: "Reset Content"
    case 206: "Partial Content"
    case 207: "Multi-Status"
    case 300: "Multiple Choices"
    case 301: "Moved Permanently"
    case 302: "Found"
    case 303: "See Other"
    case 304: "Not Modified"
    case 307: "Temporary Redirect"
    case 308: "Permanent Redirect"
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 402: "Payment Required"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 406: "Not Acceptable"
    case 407: "Proxy Authentication Required"
    case 408: "Request Timeout"
    case 409: "Conflict"
    case 410: "Gone"
    case 411: "Length Required"
    case 412: "Precondition Failed"
    case 413: "Content Too Large"
    case 414: "URI Too Long"
    case 415: "Unsupported Media Type"
    case 416: "Range Not Satisfiable"
    case 417: "Expectation Failed"
    case 421: "Misdirected Request"
    case 422: "Unprocessable Content"
    case 423: "Locked"
    case 425: "Too Early"
    case 426: "Upgrade Required"
    case 428: "Precondition Required"
    case 429: "Too Many Requests"
    case 431: "Request Header Fields Too Large"
    case 451: "Unavailable For Legal Reasons"
    case 500: "Internal Server Error"
    case 501: "Not Implemented"
    case 502: "Bad Gateway"
    case 503: "Service Unavailable"
    case 504: "Gateway Timeout"
    case 505: "HTTP Version Not Supported"
    case 507: "Insufficient Storage"
    case 508: "Loop Detected"
    case 511: "Network Authentication Required"
    default: ""
    }
  }
}

extension HeaderFields {
  /// Appends the lines of the fields, except for those that frame a message or belong to one connection.
  func appendLines(to buffer: inout [UInt8]) {
    let bytes = self.buffer.span
    for index in indices {
      let (name, value) = (nameRange(at: index), valueRange(at: index))
      if FieldSyntax.isTransportField(bytes.extracting(name)) { continue }
      // A field with an empty value has no space after the colon.
      let end = value.isEmpty ? name.upperBound + 1 : value.upperBound
      buffer.append(copying: bytes.extracting(name.lowerBound..<end))
      buffer.append("\r\n")
    }
  }
}
