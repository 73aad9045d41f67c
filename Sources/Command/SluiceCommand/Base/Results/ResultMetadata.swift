import SluiceJSON
import SluiceMessages
import SluicePipeline

/// The facts of a result that are not part of its response. A member is left out if the transaction ended before its
/// value was known.
enum ResultMetadata {
  static func make(_ result: TransactionResult, _ mask: SecretMask) -> JSONValue {
    let document: JSONValue = ["original": request(result.originalRequest, mask)]
    document["issued"] = result.issuedRequest.map { request($0, mask) }
    document["finalUrl"] = result.finalURL.map { JSONValue(mask.url($0)) }
    document["httpVersion"] = result.response?.version.map { JSONValue($0.rawValue) }
    document["mimeType"] = result.mimeType.map { JSONValue($0) }
    document["encoding"] = result.encoding.map { JSONValue($0) }
    document["timings"] = result.timings.map(timings)
    return document
  }

  /// The request without its body.
  private static func request(_ request: Request, _ mask: SecretMask) -> JSONValue {
    let document: JSONValue = [
      "method": JSONValue(request.method), "url": JSONValue(mask.url(request.url)),
      "headers": HeadersDocument.make(mask.fields(request.headers)),
    ]
    let trailers = request.trailers
    if !trailers.isEmpty { document["trailers"] = HeadersDocument.make(mask.fields(trailers)) }
    return document
  }

  private static func timings(_ timings: TransferTimings) -> JSONValue {
    let document: JSONValue = [
      "queueNs": nanoseconds(timings.queue), "dnsNs": nanoseconds(timings.nameLookup),
      "connectNs": nanoseconds(timings.connect), "tlsNs": nanoseconds(timings.tlsHandshake),
      "sendNs": nanoseconds(timings.send), "waitNs": nanoseconds(timings.wait),
      "receiveNs": nanoseconds(timings.receive), "bytesSent": JSONValue(Int64(timings.bytesSent)),
      "bytesReceived": JSONValue(Int64(timings.bytesReceived)),
      "isConnectionReused": JSONValue(timings.isConnectionReused),
    ]
    if timings.tunnel > .zero { document["tunnelNs"] = nanoseconds(timings.tunnel) }
    document["peerAddress"] = timings.peerAddress.map { JSONValue($0) }
    return document
  }

  private static func nanoseconds(_ duration: Duration) -> JSONValue {
    JSONValue(Int64(clamping: duration.nanoseconds))
  }
}
