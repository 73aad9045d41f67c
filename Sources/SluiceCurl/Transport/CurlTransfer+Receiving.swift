import CCurl
import SluiceContentCoding
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
      failure = TransportError(.invalidResponse, reason, to: request.url)
    }
    return failure == nil && !isCancelled ? line.count : 0
  }

  /// Returns the length of the piece, or the value that makes libcurl wait or stop.
  func didReceiveBody(_ piece: UnsafeRawBufferPointer) -> Int {
    if !reader.isHeadDone { return willReceiveHeaderLine(piece) }
    if failure != nil || isCancelled || isCut { return 0 }
    if isHeldBack {
      isPaused = true
      return Int(CURL_WRITEFUNC_PAUSE)
    }
    if isCoded, disposition != .discard {
      guard acceptCoded(piece) else { return failure == nil && !isCancelled ? Int(CURL_WRITEFUNC_PAUSE) : 0 }
    } else {
      receivedBytes += piece.count
      guard accept(piece, total: receivedBytes) else { return 0 }
    }
    noteEarlyEnd()
    return piece.count
  }

  /// Gets a header line, or a piece of a long one, before libcurl reads it; see ``CurlLibrary/foldsIntoFreedHeaders``.
  private func willReceiveHeaderLine(_ piece: UnsafeRawBufferPointer) -> Int {
    if reader.canContinue(with: piece) { return piece.count }
    failure = TransportError(.invalidResponse, ResponseReader.foldWithoutField, to: request.url)
    return 0
  }

  /// Takes decoded bytes; returning false ends the transfer.
  func accept(_ piece: UnsafeRawBufferPointer, total: Int) -> Bool {
    guard total <= maximumBytes else {
      failure = tooLarge
      return false
    }
    return take(piece)
  }

  /// Sets what happens to the body; returns an error if that is not possible.
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
      if !isCoded { collector?.expect(announced) }
    case .stream: break
    }
    return announced > maximumBytes && !isCoded ? tooLarge : nil
  }

  private func didReceiveHead() {
    guard let observer else { return }
    if reader.mustClose { handle?.closeConnection() }
    if let descriptor, reader.version == .http11 || reader.version == .http10 {
      handle?.multi.noteHTTP1(descriptor)
    }
    isCoded = reader.codings != nil && hasBody && !codings.isEmpty
    let head = Response(status: reader.status, headers: reader.takeHeaders(), version: reader.version)
    if let failure = receive(observer.transferDidReceiveHead(consume head)) { self.failure = failure }
    noteEarlyEnd()
  }

  /// An HTTP/2 server may answer in full before it has read the whole request (RFC 9113 §8.1), and then read no more of
  /// it. Libcurl 7.88 would wait forever for room to send, so the transfer ends here once the response is complete.
  private func noteEarlyEnd() {
    guard reader.version == .http2, !request.body.isEmpty else { return }
    guard reader.contentLength == receivedBytes else { return }
    isWhole = true
    transport.postpone(self)
  }

  /// The number of body bytes on the wire, as the head announces it.
  private var announcedBytes: Int { hasBody ? reader.contentLength ?? 0 : 0 }

  private var hasBody: Bool { reader.hasBody }

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
      isBehindDisk = try collector?.append(piece) { spilledBody() } == .pause
      return true
    } catch {
      failure = error
      return false
    }
  }

  private func spilledBody() -> SpilledBody {
    SpilledBody(on: transport.loop) { [weak self] in
      guard let self else { return }
      isBehindDisk = false
      transport.postpone(self)
    }
  }

  private var tooLarge: TransportError {
    TransportError(
      .responseTooLarge,
      "the response body is larger than the \(maximumBytes) bytes allowed; raise transport.maxResponseBytes",
      to: request.url)
  }

  /// A body that is not held in memory has a limit only if the caller set one.
  private var maximumBytes: Int {
    switch disposition {
    case .collect, .hold: options.maximumResponseBytes
    case .stream: options.maximumStreamedBytes
    case .discard: .max
    }
  }
}
