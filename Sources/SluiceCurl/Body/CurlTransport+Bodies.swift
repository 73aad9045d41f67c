package import SluiceMessages
package import SluicePipeline

extension CurlTransport {
  package func makeBodyGatherer(_ options: TransferOptions) -> any BodyGatherer {
    StreamedBodyGatherer(
      loop, options, limit: options.maximumResponseBytes,
      excess: TransportError(
        .responseTooLarge,
        "the response body has more than \(options.maximumResponseBytes) bytes after the stages, and it must be"
          + " held as a whole; raise transport.maxResponseBytes"))
  }

  package func makeRequestGatherer(_ options: TransferOptions) -> any BodyGatherer {
    StreamedBodyGatherer(
      loop, options, limit: settings.maxHeldRequestBytes,
      excess: TransportError(
        .requestTooLarge,
        "the streamed request body has more than \(settings.maxHeldRequestBytes) bytes, and a stage wants"
          + " it whole; raise transport.maxRequestBytes", isBeforeSending: true))
  }

  package func stream(of file: FileBody) throws(TransportError) -> BodyStream {
    let reader = FileReader(try UploadFile(file), file)
    return BodyStream { maximum in try reader.read(maximum) }
  }
}

/// Gathers a body that comes piece by piece.
private final class StreamedBodyGatherer: BodyGatherer {
  var whenReady: (() -> Void)?
  private let loop: any EventLoop
  private var collector: BodyCollector
  private let limit: Int
  private let excess: TransportError
  private var byteCount = 0

  init(_ loop: any EventLoop, _ options: TransferOptions, limit: Int, excess: TransportError) {
    self.loop = loop
    collector = BodyCollector(spillBytes: options.spillBytes)
    self.limit = limit
    self.excess = excess
  }

  func append(_ piece: [UInt8]) throws(TransportError) -> BodyProgress {
    byteCount += piece.count
    guard byteCount <= limit else { throw excess }
    return try collector.append(piece) {
      SpilledBody(on: loop) { [weak self] in self?.whenReady?() }
    }
  }

  func finish() throws(TransportError) -> Body? { try collector.finish() }
}

/// Reads a file from its beginning. Unchecked because it is confined to the loop.
private final class FileReader: @unchecked Sendable {
  private let file: UploadFile
  private let path: String
  private let byteCount: Int
  private var offset = 0

  init(_ file: UploadFile, _ body: FileBody) {
    self.file = file
    path = body.path
    byteCount = body.byteCount
  }

  func read(_ maximum: Int) throws(TransportError) -> [UInt8]? {
    // Bytes that were added to the file later are not part of the body.
    let count = min(maximum, byteCount - offset)
    guard count > 0 else { return nil }
    var failure: TransportError?
    let piece = [UInt8](unsafeUninitializedCapacity: count) { buffer, count in
      do throws(TransportError) {
        count = try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
      } catch { failure = error }
    }
    if let failure { throw failure }
    offset += piece.count
    guard !piece.isEmpty else {
      throw TransportError(
        .bodyFile, "the body in \(path) has \(offset) of its \(byteCount) bytes: the file was truncated")
    }
    return piece
  }
}
