import SluiceMessages
import SluicePipeline

// Ends a connection that is broken, and decides which error each request on it gets.
extension HTTP2Connection {
  /// Ends the connection because the peer has broken a rule.
  ///
  /// - Parameter isSaying: whether to send the server a GOAWAY with the reason.
  func endBroken(saying isSaying: Bool = true) {
    guard !isClosed else { return }
    if isSaying { sender.sendLast(through: channel) }
    let reason = flood.isExceeded ? HTTP2Failure.flood : nil
    let isAlone = streams.values.count { !$0.isWhole } == 1
    let culprit = frames.head.stream
    end { [isElsewhere = hasEnded(culprit)] stream, transfer in
      let failure = HTTP2Failure(transfer)
      // The response of another stream, or the connection as a whole, was wrong.
      guard culprit == stream.id || isAlone && !isElsewhere else {
        return self.lost(stream, transfer, because: reason ?? HTTP2Failure.invalid)
      }
      return reason.map(failure.broken) ?? failure.brokenConnection(stream)
    }
  }

  /// The error for a request that was under way when the connection ended, although it is not to blame for that.
  private func lost(_ stream: HTTP2Stream, _ transfer: HTTPTransfer, because reason: String) -> TransportError {
    resent(stream, transfer, because: reason)
      ?? TransportFailure.lost(
        pool.origin, because: reason, hasHead: stream.hasHead, isBeforeSending: transfer.times.sentBytes == 0)
  }

  /// The error for a request on a connection that was used before and has not answered the request; otherwise nil.
  private func resent(
    _ stream: HTTP2Stream, _ transfer: HTTPTransfer, because cause: String? = nil
  ) -> TransportError? {
    guard stream.isReused, transfer.times.firstByteAt == nil else { return nil }
    return TransportFailure.resent(
      pool.origin, transfer.request.method, because: cause, isBeforeSending: transfer.times.sentBytes == 0)
  }

  /// - Parameter code: the system's error; 0 if the peer has closed the connection.
  func didBreak(_ code: Int32) {
    let failure = channel.tls?.failure
    let refusal = failure.flatMap { TransportFailure.refusal(pool.origin, $0, pool.settings) }
    end { [farewell] stream, transfer in
      if let refusal { return refusal }
      if let farewell, farewell.demandsHTTP1, transfer.isSafe, !stream.hasHead, self.pool.downgrade() {
        return TransportFailure.downgraded(self.pool.origin)
      }
      if let farewell, !farewell.isGraceful { return HTTP2Failure(transfer).closed(stream, farewell) }
      return self.resent(stream, transfer)
        ?? TransportFailure.lost(
          self.pool.origin, failure, code, through: self.pool.peersThroughProxy, hasBytes: stream.hasHead,
          hasHead: stream.hasHead, isBeforeSending: transfer.times.sentBytes == 0)
    }
  }

  private func end(_ error: (HTTP2Stream, HTTPTransfer) -> TransportError) {
    let broken = streams.values.filter { !$0.isWhole }.sorted { $0.id < $1.id }
    for stream in broken { streams[stream.id] = nil }
    close()
    for stream in broken {
      guard let transfer = stream.transfer.take() else { continue }
      transfer.fail(stream.failure ?? error(stream, transfer))
    }
  }
}
