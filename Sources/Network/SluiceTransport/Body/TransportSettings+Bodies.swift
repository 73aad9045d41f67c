package import SluiceMessages
package import SluicePipeline

// Rules for the bodies that pass through stages. They are the same for every transport.
extension TransportSettings {
  package func makeBodyGatherer(on loop: any EventLoop, _ options: TransferOptions) -> any BodyGatherer {
    StreamedBodyGatherer(
      loop, options, limit: options.maximumResponseBytes,
      excess: TransportError(
        .responseTooLarge,
        "the response body has more than \(options.maximumResponseBytes) bytes after the stages, and must be kept; "
          + "raise \(names.maximumResponseBytes)"))
  }

  package func makeRequestGatherer(on loop: any EventLoop, _ options: TransferOptions) -> any BodyGatherer {
    StreamedBodyGatherer(
      loop, options, limit: maximumHeldRequestBytes,
      excess: TransportError(
        .requestTooLarge,
        "the streamed request body has more than \(maximumHeldRequestBytes) bytes, but a stage needs all of it; raise "
          + "transport.maxRequestBytes",
        isBeforeSending: true))
  }

  /// Why a request body of known size is not sent; nil if it is small enough.
  package func excess(of request: borrowing Request) -> TransportError? {
    guard let count = request.body.byteCount, count > maxBytes(of: request.body) else { return nil }
    return TransportError(
      .requestTooLarge,
      "the request body has \(count) bytes, \(maxBytes(of: request.body)) are allowed; raise transport.maxRequestBytes",
      to: request.url, isBeforeSending: true)
  }
}

extension FileBody {
  /// Reads the file piece by piece.
  package func stream() throws(TransportError) -> BodyStream {
    let reader = FileReader(try UploadFile(self), self)
    return BodyStream { maximum in try reader.read(maximum) }
  }
}
