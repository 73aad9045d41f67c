package import SluiceMessages
package import SluicePipeline

// Errors that every transport reports with the same message.
extension TransportError {
  package static func notProcessed(_ request: Request) -> TransportError {
    TransportError(
      .notProcessed,
      "the server refused the stream of the \(request.method) without processing it, for example because the "
        + "connection is closing (RFC 9113 §8.7)", to: request.url, isBeforeSending: true)
  }

  package static func downgraded(_ request: Request, _ names: SettingNames) -> TransportError {
    TransportError(
      .invalidResponse, "the server accepts this request only over HTTP/1.1 (HTTP_1_1_REQUIRED); set \(names.http11)",
      to: request.url)
  }

  package static func cutShort(_ request: Request) -> TransportError {
    TransportError(
      .connectionLost,
      "the server reset the stream before the end of the response, although it reported no error (RFC 9113 §8.1)",
      to: request.url)
  }

  /// - Parameter reason: the rule of HTTP/2 that the server, or an intermediary, has broken.
  package static func brokenHTTP2(_ reason: String, _ url: HTTPURL, _ names: SettingNames) -> TransportError {
    TransportError(
      .invalidResponse,
      "a rule of HTTP/2 was broken: \(reason); only the server can fix it, but HTTP/1.1 might work: \(names.http11)",
      to: url)
  }

  package static func cancelled(_ request: borrowing Request) -> TransportError {
    TransportError(.cancelled, "cancelled", to: request.url)
  }
}
