import CCurl
import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluiceTransport

// The functions that libcurl calls when it sends.
extension CurlTransfer {
  /// Called when the connection is open. Returning false stops libcurl before it writes a byte.
  func willIssue(through handle: CurlHandle, from port: Int32) -> Bool {
    guard failure == nil, !isCancelled, let observer else { return false }
    guard !hasIssued else {
      failure = resendFailure
      return false
    }
    descriptor = handle.multi.descriptor(onPort: port, opened: handle.opened)
    if let descriptor, handle.opened.isEmpty, handle.multi.isSoiled(descriptor) {
      isSoiled = true
      return false
    }
    hasIssued = true
    if upload != nil { issuedAt = transport.loop.now }
    localPort = port
    if let route = handle.route { transport.didConnect(route, port) }
    if options.collectsConnection {
      issuedConnection = handle.connectionFacts(
        id: descriptor.flatMap { handle.multi.connectionID(of: $0) }, isSecure: request.url.origin.scheme == .https)
    }
    // The headers are moved out of the request, because they are issued only once. If the request kept a second
    // reference to them, a change by a stage would copy them.
    var headers = HeaderFields()
    swap(&headers, &request.headers)
    if options.sendsBasicUnasked { headers.addCredentials(of: request.url) }
    guard observer.transferWillIssue(&headers), !isCancelled else {
      failure = .cancelled(request)
      return false
    }
    handle.setHeaders(headers)
    reader.begin(
      isHead: request.method == "HEAD", expectedFields: handle.expectedFields, expectedBytes: handle.expectedBytes)
    return true
  }

  /// The error to report when libcurl is about to send the request again by itself.
  private var resendFailure: TransportError {
    if stream.isRefused { return .notProcessed(request) }
    return TransportError(
      .resent,
      "the connection broke, and libcurl was about to send the \(request.method) again by itself; it is not known"
        + " whether the server executed it", to: request.url)
  }

  func provideBody(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
    guard failure == nil, !isCancelled, let upload else { return Int(CURL_READFUNC_ABORT) }
    // The server has sent its whole response and stopped reading. Returning 0 ends the request body.
    if stream.isReset { return 0 }
    let count: Int
    do throws(TransportError) {
      guard let read = try upload.read(into: buffer) else {
        isStarved = true
        return Int(CURL_READFUNC_PAUSE)
      }
      count = read
    } catch { return Int(CURL_READFUNC_ABORT) }
    if count == 0 || upload.deliveredBytes == upload.byteCount { sentAt = transport.loop.now }
    if options.tellsProgress, count > 0 {
      observer?.transferDidSend(bodyBytes: upload.deliveredBytes, of: upload.byteCount)
    }
    return count
  }

  func seekBody(to offset: Int) -> Bool { upload?.seek(to: offset) ?? false }
}

extension CurlTransfer: LoopTimerTarget {
  /// Starts a timer, which ends the transfer if the name look-up has not finished by then.
  func wake(after delay: Duration) {
    let timer = self.timer ?? LoopTimer()
    self.timer = timer
    transport.loop.arm(timer, at: transport.loop.now + delay, for: self)
  }

  func timerDidFire(_ timer: LoopTimer) {
    if case .waiting = phase {
      failure = TransportError(
        .connectTimeout,
        "the name was not resolved within \(transport.settings.connectTimeout)"
          + " (\(transport.settings.names.connectTimeout))", to: request.url, isBeforeSending: true)
    }
    transport.postpone(self)
  }
}
