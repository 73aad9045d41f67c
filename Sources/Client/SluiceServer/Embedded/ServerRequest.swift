/// A complete request, as the server received it.
public struct ServerRequest: Sendable {
  /// The method as the client sent it; methods are case-sensitive (RFC 9110 §9.1).
  public var method: String
  /// The request target as it was sent: usually path and query; in a request to a proxy an absolute URL; in OPTIONS
  /// perhaps `*`.
  public var target: String
  /// `HTTP/1.1` or `HTTP/1.0`.
  public var version: String
  /// Header lines in wire order.
  public var headers: [HeaderLine]
  /// The body without its transfer coding.
  public var body: [UInt8]
  /// The fields after the last chunk of a chunked body.
  public var trailers: [HeaderLine]
  /// The client's address and port, such as `127.0.0.1:40312` or `[::1]:40312`; empty over a Unix socket.
  public var peer: String
  /// The id of the user whose process has connected to a Unix socket, as the kernel reports it; nil over TCP.
  public var peerUser: UInt32?

  /// The target up to the first `?`, percent-encoding untouched.
  public var path: Substring {
    target.prefix { $0 != "?" }
  }

  /// The text of the target after the first `?`; nil if it has no `?`.
  public var query: Substring? {
    target.firstIndex(of: "?").map { target[target.index(after: $0)...] }
  }
}
