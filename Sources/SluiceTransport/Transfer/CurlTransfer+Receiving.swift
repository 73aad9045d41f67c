import CCurl
import SluiceMessages
import SluicePipeline

// Called by libcurl.
extension CurlTransfer {
  /// Returns the length of the line, or 0 to end the transfer.
  func didReceiveHeaderLine(_ line: UnsafeRawBufferPointer) -> Int {
    switch reader.take(line) {
    case .more: return line.count
    case .informational:
      observer?.transferDidReceiveInformational(reader.status, reader.headers)
    case .head: didReceiveHead()
    case .invalid(let reason):
      failure = TransportError(.invalidResponse, "\(request.url.origin): \(reason)")
    }
    return failure == nil && !isCancelled ? line.count : 0
  }

  /// Returns the length of the piece, or what makes libcurl wait or stop.
  func didReceiveBody(_ piece: UnsafeRawBufferPointer) -> Int {
    if failure != nil || isCancelled || isCut { return 0 }
    if isPausing || disposition == .hold {
      isPaused = true
      return Int(CURL_WRITEFUNC_PAUSE)
    }
    receivedBytes += piece.count
    guard receivedBytes <= options.maximumResponseBytes else {
      failure = tooLarge
      return 0
    }
    guard take(piece) else { return 0 }
    noteEarlyEnd()
    return piece.count
  }

  /// Sets what becomes of the body; returns why it can't become that.
  func receive(_ disposition: BodyDisposition) -> TransportError? {
    self.disposition = disposition
    let announced = announcedBytes
    switch disposition {
    case .hold: return nil
    case .discard:
      isCut = announced > Self.discardBytes
      return nil
    case .collect:
      collector = BodyCollector(spillBytes: options.spillBytes)
      collector?.expect(announced)
    case .stream: break
    }
    return announced > options.maximumResponseBytes ? tooLarge : nil
  }

  private func didReceiveHead() {
    guard let observer else { return }
    let head = Response(status: reader.status, headers: reader.takeHeaders(), version: reader.version)
    if let failure = receive(observer.transferDidReceiveHead(consume head)) { self.failure = failure }
    noteEarlyEnd()
  }

  /// A server may answer HTTP/2 in full before it has taken the whole request (RFC 9113 §8.1), and take no more of it.
  /// Libcurl 7.88 then waits for room to send that never comes, so what is whole is ended here.
  private func noteEarlyEnd() {
    guard reader.version == .http2, !request.body.isEmpty, !reader.hasContentCoding else { return }
    guard reader.contentLength == receivedBytes else { return }
    isWhole = true
    transport.postpone(self)
  }

  /// Body bytes that the head announces, where it says so of what comes out in the end.
  private var announcedBytes: Int {
    let hasBody = request.method != "HEAD" && reader.status != 204 && reader.status != 304
    return hasBody && !reader.hasContentCoding ? reader.contentLength ?? 0 : 0
  }

  private func take(_ piece: UnsafeRawBufferPointer) -> Bool {
    switch disposition {
    case .hold: return false
    case .collect: return collect(piece)
    case .discard:
      isCut = receivedBytes > Self.discardBytes
      return !isCut
    case .stream:
      switch observer?.transferDidReceive([UInt8](piece)) ?? .stop {
      case .proceed: break
      case .pause: isPausing = true
      case .stop: failure = .cancelled(request)
      }
      return failure == nil && !isCancelled
    }
  }

  private func collect(_ piece: UnsafeRawBufferPointer) -> Bool {
    do throws(TransportError) {
      try collector?.append(piece)
      return true
    } catch {
      failure = error
      return false
    }
  }

  private var tooLarge: TransportError {
    TransportError(
      .responseTooLarge,
      "\(request.url.origin): the response body is larger than the \(options.maximumResponseBytes) bytes allowed"
        + "; raise transport.maxResponseBytes")
  }
}
