// A stage that blocks runs on another thread with a copy of the exchange, while the exchange itself stays on the loop.
extension Exchange {
  /// Returns a copy with the same messages and facts. The copy is not bound to the transaction, so it cannot be
  /// suspended. Documents are not copied; settle them first. [loop]
  package func detachedCopy() -> Exchange {
    let copy = Exchange(
      loop: loop, id: id, request: requestForms.native, started: started, deadline: deadline, parent: parent,
      requestIDHeader: requestIDHeader)
    // A stage can have replaced the request.
    copy.client = client
    copy.keepRequestID(requestID)
    copy.responseForms.native = responseForms.native
    copy.hasOwnResponseBody = hasOwnResponseBody
    copy.sharedLimits = sharedLimits
    copy.issued = issued
    copy.detachedConnection = connection
    // The loop reports ended spans, so the copy gets none of them.
    transaction?.tellSpans()
    copy.spans = spans
    copy.detachedWantsSpans = wantsSpans
    copy.phase = phase
    copy.attempt = attempt
    copy.hop = hop
    copy.attributes = attributes
    copy.place = place
    copy.attachments = attachments
    copy.responseBodyAskers = responseBodyAskers
    return copy
  }

  /// Takes over a stage's changes to a copy. [loop]
  package func adopt(_ copy: Exchange) {
    requestForms = copy.requestForms
    responseForms = copy.responseForms
    hasOwnResponseBody = copy.hasOwnResponseBody
    responseBodyAskers = copy.responseBodyAskers
    attributes = copy.attributes
    if let spans = copy.spans {
      if self.spans == nil { self.spans = spans } else { self.spans?.adopt(spans) }
    }
    if hasStreamedResponse { transaction?.machine.streamsOwnBody = true }
    lowerDeadline(to: copy.deadline)
    if let limits = copy.limits { lowerLimits { $0 = limits } }
  }
}
