import SluiceMessages

// What the delegates are told while a hop is under way.
extension Transaction {
  /// Whether a delegate follows the hops.
  var isObserved: Bool { delegate?.observer != nil || pipeline.delegate?.observer != nil }

  @inline(never)
  private func tell(_ event: (any HopObserver) -> Void) {
    let phase = self.phase
    self.phase = .trace
    if let observer = delegate?.observer { event(observer) }
    if let observer = pipeline.delegate?.observer { event(observer) }
    self.phase = phase
    clock = nil
  }

  package func transferDidSend(bodyBytes count: Int, of total: Int?) {
    guard !machine.isDone else { return }
    noteActivity()
    if isObserved { tell { $0.transaction(id, didSend: TransferProgress(bytes: count, total: total)) } }
  }

  package func transferDidReceive(bodyBytes count: Int, of total: Int?) {
    guard !machine.isDone else { return }
    noteActivity()
    if isObserved { tell { $0.transaction(id, didReceive: TransferProgress(bytes: count, total: total)) } }
  }

  func tellInformational(_ status: Int, _ headers: HeaderFields) {
    tell { $0.transaction(id, didReceiveInformational: status, headers) }
  }

  /// Tells the delegates that a hop ends: the transfer of the hop has ended or is about to be cancelled.
  func tellHopEnd(_ timings: TransferTimings, _ connection: ConnectionFacts?, _ error: TransactionError?) {
    let metrics = HopMetrics(
      attempt: attempt, hop: hop, method: requestForms.native.method,
      url: requestForms.native.url, status: thisHop.wireStatus == 0 ? nil : thisHop.wireStatus, timings: timings,
      connection: connection, error: error)
    tell { $0.transaction(id, didEndHop: metrics) }
  }
}
