import CCurl
import SluiceContentCoding
import SluiceMessages
import SluicePipeline
import SluiceTransport

// The functions that libcurl calls when it receives.
extension CurlTransfer {
  /// Handles a header line. Returns the length of the line, or 0 to end the transfer.
  func didReceiveHeaderLine(_ line: UnsafeRawBufferPointer) -> Int {
    switch reader.take(line) {
    case .more: return line.count
    case .informational:
      observer?.transferDidReceiveInformational(reader.status, reader.headers)
    case .head: didReceiveHead()
    case .invalid(let reason):
      failure = TransportError(.invalidResponse, reason, to: request.url)
    }
    return failure == nil && !isCancelled ? line.count : 0
  }

  /// Handles a piece of the body. Returns the length of the piece, or the value that makes libcurl wait or stop.
  func didReceiveBody(_ piece: UnsafeRawBufferPointer) -> Int {
    if !reader.isHeadDone { return willReceiveHeaderLine(piece) }
    guard failure == nil, !isCancelled, let receiver, let observer else { return 0 }
    switch receiver.take(piece, observer) {
    case .whole:
      noteEarlyEnd()
      if reader.contentLength == receiver.receivedBytes { closeIfMoreHasArrived() }
      return isCancelled ? 0 : piece.count
    case .nothing:
      isPaused = true
      return Int(CURL_WRITEFUNC_PAUSE)
    case .end: return 0
    }
  }

  /// Gets a header line, or a piece of a long line, before libcurl processes it; see
  /// ``CurlLibrary/foldsIntoFreedHeaders``.
  private func willReceiveHeaderLine(_ piece: UnsafeRawBufferPointer) -> Int {
    if reader.canContinue(with: piece) { return piece.count }
    failure = TransportError(.invalidResponse, ResponseReader.foldWithoutField, to: request.url)
    return 0
  }

  private func didReceiveHead() {
    guard let observer else { return }
    // Libcurl does not report when it sends a body in memory, so the body is reported as sent now. An early response
    // can arrive before the whole body is sent.
    if options.tellsProgress, upload == nil, let count = request.body.byteCount, count > 0 {
      observer.transferDidSend(bodyBytes: count, of: count)
    }
    if reader.mustClose { handle?.closeConnection() }
    if let descriptor, reader.version == .http11 || reader.version == .http10 {
      handle?.multi.noteHTTP1(descriptor)
    }
    let hasBody = reader.hasBody
    let receiver = BodyReceiver()
    receiver.prepare(
      options, codings: hasBody ? codings : ContentCodings(), announcedBytes: hasBody ? reader.contentLength : 0,
      isEndKnown: !hasBody || reader.contentLength == 0, owner: self)
    self.receiver = receiver
    let head = Response(status: reader.status, headers: reader.takeHeaders(), version: reader.version)
    receiver.begin(observer.transferDidReceiveHead(consume head))
    if let failure = receiver.failure { self.failure = failure }
    noteEarlyEnd()
    if !hasBody { closeIfMoreHasArrived() }
  }

  /// Closes the connection after a response whose end has arrived, if OpenSSL holds further bytes of the same record.
  /// Libcurl does not see them when it checks whether the idle connection is silent, so they would become the response
  /// to the next request (RFC 9112 §9.2).
  private func closeIfMoreHasArrived() {
    guard request.url.origin.scheme == .https, reader.version != .http2 else { return }
    if handle?.hasUnreadTLS == true { handle?.closeConnection() }
  }

  /// The codings that must be decoded.
  private var codings: ContentCodings {
    reader.codings?.all(includingContent: transport.settings.decodesContent && options.decodesContent)
      ?? ContentCodings()
  }

  /// An HTTP/2 server may send its whole response before it has read the whole request (RFC 9113 §8.1), and then stop
  /// reading. Libcurl 7.88 would wait forever for room to send. The transfer therefore ends here as soon as the
  /// response is complete.
  private func noteEarlyEnd() {
    guard reader.version == .http2, !request.body.isEmpty else { return }
    guard reader.contentLength == receiver?.receivedBytes else { return }
    isWhole = true
    transport.postpone(self)
  }
}

extension CurlTransfer: BodyReceiverOwner {
  var receivingLoop: any EventLoop { transport.loop }
  var receivingURL: HTTPURL { request.url }

  func bodyCanGoOn() { transport.postpone(self) }
}
