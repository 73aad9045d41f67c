extension HeaderFields {
  /// Checks that there is at most one `Host`, and that it names a host (RFC 9112 §3.2). If two servers on the way read
  /// different `Host` fields, they treat one request as a request to two hosts. If there is no `Host`, the transport
  /// writes the host of the URL.
  package func validateHost() throws(MessageError) {
    let name = "host".utf8.span
    guard let first = firstIndex(named: name) else { return }
    guard firstIndex(named: name, from: first + 1) == nil else {
      throw Self.hostFailure("the request has more than one Host; set only one")
    }
    try Self.checkHost(buffer.span.extracting(valueRange(at: first)))
  }

  /// Checks the value of a `Host`: a host as a URL has it, with an optional port.
  package static func checkHost(_ value: Span<UInt8>) throws(MessageError) {
    let hasUser = HTTPURL.firstIndex(in: value, from: 0) { $0 == UInt8(ascii: "@") } < value.count
    guard !hasUser else { throw hostFailure("it has an @; expected a host, with an optional :port after it") }
    do { try HTTPURL.checkHostAndPort(value) } catch {
      throw hostFailure("it \(error.reason); expected a host, with an optional :port after it")
    }
  }

  private static func hostFailure(_ reason: String) -> MessageError {
    MessageError(.invalidHeader, "header \"host\"", reason)
  }
}
