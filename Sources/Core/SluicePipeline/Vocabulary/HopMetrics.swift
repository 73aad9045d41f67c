public import SluiceMessages

/// What is known about a hop at its end. A hop is one request that the transport has begun, with its response, if there
/// was one.
public struct HopMetrics: Sendable, Hashable {
  /// The number of the attempt; 0 is the first.
  public let attempt: Int
  /// The number of the hop in its attempt; 0 is the first. Each redirect and each answer to a challenge begins another
  /// hop.
  public let hop: Int
  /// The method of the request.
  public let method: String
  /// Where the request went.
  public let url: HTTPURL
  /// The status that the server sent; nil without a response.
  public let status: Int?
  /// The phases, the bytes, the version of HTTP and the address of the server.
  public let timings: TransferTimings
  /// The connection, with the version of TLS; nil if there was no connection.
  public let connection: ConnectionFacts?
  /// Why the hop failed; nil if it has a response.
  public let error: TransactionError?

  package init(
    attempt: Int, hop: Int, method: String, url: HTTPURL, status: Int?, timings: TransferTimings,
    connection: ConnectionFacts?, error: TransactionError?
  ) {
    self.attempt = attempt
    self.hop = hop
    self.method = method
    self.url = url
    self.status = status
    self.timings = timings
    self.connection = connection
    self.error = error
  }
}

extension HopMetrics: CustomStringConvertible {
  /// One line for people to read: `GET https://example.com/: 200 in 12.3 ms (…), 80 bytes sent, 2 received; connection
  /// 3 to 127.0.0.1:443, HTTP/2, TLSv1.3`. The query and the user of the URL are left out, since they may be secret.
  public var description: String {
    let outcome = status.map(String.init) ?? error.map { $0.code.rawValue } ?? "no response"
    let place = connection.map { "; \($0)" } ?? ""
    return
      "\(PlainText.quote(method).dropFirst().dropLast()) \(url.origin)\(url.path): \(outcome) in \(timings)\(place)"
  }
}
