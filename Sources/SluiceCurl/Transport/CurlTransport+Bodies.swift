package import SluiceMessages
package import SluicePipeline

extension CurlTransport {
  package func makeBodyGatherer(_ options: TransferOptions) -> any BodyGatherer {
    StreamedBodyGatherer(
      loop, options, limit: options.maximumResponseBytes,
      excess: TransportError(
        .responseTooLarge,
        "the response body has more than \(options.maximumResponseBytes) bytes when the stages have seen it, and is to be"
          + " held; raise transport.maxResponseBytes"))
  }

  package func makeRequestGatherer(_ options: TransferOptions) -> any BodyGatherer {
    StreamedBodyGatherer(
      loop, options, limit: settings.maximumHeldRequestBytes,
      excess: TransportError(
        .requestTooLarge,
        "the request body that is streamed has more than \(settings.maximumHeldRequestBytes) bytes, and a stage wants to"
          + " have the whole; raise transport.maxRequestBytes", isBeforeSending: true))
  }

  package func stream(of file: FileBody) throws(TransportError) -> BodyStream {
    let reader = FileReader(try UploadFile(file), file)
    return BodyStream { maximum in try reader.read(maximum) }
  }
}
