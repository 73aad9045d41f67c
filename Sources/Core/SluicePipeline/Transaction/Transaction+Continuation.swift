package import SluiceMessages

// Hops that the transport begins by itself.
extension Transaction {
  /// The response as stages have left it so far. [loop]
  package var responseNow: Response? { responseForms.native }

  package func transferDidContinue(
    after head: consuming Response?, with next: consuming Request, _ timings: TransferTimings
  ) {
    guard !machine.isDone, issued != nil else { return }
    clock = nil
    metrics.addBytes(sent: timings.bytesSent, received: timings.bytesReceived)
    result.timings = timings
    if let head {
      noteCrossing(head, next)
      noteHopEnd(nil)
    } else {
      let reason = TransactionError(code: .notProcessed, message: "the request is sent again over a new connection")
      noteHopEnd(reason)
      emitRetry(after: .zero, reason)
    }
    requestForms.replace(with: next)
    beginSending()
    openHop = .begun(pipeline.traced.contains(.didEndHop) ? now() : started)
  }

  private func noteCrossing(_ head: Response, _ next: borrowing Request) {
    responseForms.replace(with: head)
    thisHop.wireStatus = head.status
    emit(.didReceive)
    guard Redirect.isRedirect(head.status) else { return }
    let hops = self.hops ?? HopState()
    self.hops = hops
    hops.redirects += 1
    hops.redirect = Redirect(
      status: head.status, url: next.url, method: next.method,
      isCrossOrigin: next.url.origin != requestForms.native.url.origin, keepsBody: !next.body.isEmpty)
    metrics.countRedirect()
    emit(.willRedirect)
  }
}
