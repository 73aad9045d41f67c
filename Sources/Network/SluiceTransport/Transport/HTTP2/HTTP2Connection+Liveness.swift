import CNGHTTP2
import SluiceLoop
import SluicePipeline

// Finds out whether a connection is still alive: a PING is sent, and no request until the peer has answered it.
extension HTTP2Connection {
  /// Sends a PING if nothing has arrived from the peer for a long time.
  ///
  /// - Returns: true if the connection must not be used until the peer has answered the PING. The pool is told when the
  ///   answer arrives.
  func tryIfSilent() -> Bool {
    guard lastReceived + transport.settings.trustedSilence < transport.loop.turnBegan else {
      return isTrying
    }
    sendPing()
    return true
  }

  private func sendPing() {
    guard !isTrying, !isDraining else { return }
    isTrying = true
    _ = nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
    transport.loop.arm(pingTimer, at: Loop.now + transport.settings.pingLimit, for: self)
    transport.flushLater(self)
  }

  /// Tests the connection because a request on it was given up before anything has arrived. The connection may be dead,
  /// so until the answer, other requests go over other connections.
  func doubt() {
    guard !isClosed, !isDoubted else { return }
    isDoubted = true
    sendPing()
    pool.didDoubt(self)
  }

  /// Called when the doubt has ended, because the peer has answered or because the connection closes.
  func endDoubt() {
    guard isDoubted else { return }
    isDoubted = false
    pool.didEndDoubt(self)
  }

  /// Whether nothing has arrived since the transfer's request was sent, although there was time for an answer.
  func isSilent(for transfer: HTTPTransfer) -> Bool {
    guard let issuedAt = transfer.times.issuedAt, transfer.times.firstByteAt == nil else { return false }
    return lastReceived < issuedAt && Loop.now.nanoseconds(since: issuedAt) > dialTimes.connect
  }

  /// Called when the peer has answered the PING.
  func endTry() {
    guard isTrying else { return }
    isTrying = false
    endDoubt()
    transport.loop.disarm(pingTimer)
    hasNewRoom = true
  }
}

extension HTTP2Connection: LoopTimerTarget {
  /// Called when the peer has not answered a PING in time. Requests under way continue, within their own time limits.
  func timerDidFire(_ timer: LoopTimer) {
    isTrying = false
    guard openStreams > 0 else { return close() }
    isDraining = true
    doubt()
    pool.stopUsing(self)
  }
}
