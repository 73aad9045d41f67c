package import SluiceMessages

/// An observer between a transport and another observer. It passes on what it does not note itself. Without these
/// functions, the defaults of ``TransferObserver`` would answer in place of the other observer.
package protocol TransferRelay: TransferObserver {
  /// The observer to which everything is passed on.
  var observer: any TransferObserver { get }
}

extension TransferRelay {
  package var wantsDecodedBody: Bool { observer.wantsDecodedBody }

  package func transferDidMeet(_ challenge: HandshakeChallenge, answer: @escaping (HandshakeDecision?) -> Void) {
    observer.transferDidMeet(challenge, answer: answer)
  }

  package func transferDidContinue(
    after head: consuming Response?, with next: consuming Request, _ timings: TransferTimings
  ) { observer.transferDidContinue(after: head, with: next, timings) }

  package func transferDidReceiveInformational(_ status: Int, _ headers: HeaderFields) {
    observer.transferDidReceiveInformational(status, headers)
  }

  package func transferDidSend(bodyBytes count: Int, of total: Int?) {
    observer.transferDidSend(bodyBytes: count, of: total)
  }

  package func transferDidReceive(bodyBytes count: Int, of total: Int?) {
    observer.transferDidReceive(bodyBytes: count, of: total)
  }
}
