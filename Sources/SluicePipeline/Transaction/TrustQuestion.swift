package import SluiceMessages

/// A question to the delegates of a transaction: whether its connection may go to this server.
///
/// The delegates that decide are asked in turn, until one does not leave the decision. The answer is given once: also if
/// the deadline of a delegate passes, or if the transaction ends before.
///
/// Unchecked because it is confined to the loop of the transaction.
package final class TrustQuestion: @unchecked Sendable {
  package let trust: ServerTrust
  private unowned let transaction: Transaction
  private var rest: ArraySlice<StageBinding>
  private var asked: StageBinding?
  private var withdraw: (() -> Void)?
  private var answer: ((ServerTrustDecision?) -> Void)?
  private let timer = LoopTimer()

  init(
    _ trust: ServerTrust, _ transaction: Transaction, _ bindings: [StageBinding],
    answer: @escaping (ServerTrustDecision?) -> Void
  ) {
    self.trust = trust
    self.transaction = transaction
    rest = bindings[...]
    self.answer = answer
  }

  func askNext() {
    asked = rest.popFirst()
    guard let asked, let observer = asked.observer else { return finish(.performDefaultHandling) }
    if let deadline = asked.deadline {
      transaction.loop.arm(timer, at: transaction.loop.now + deadline, for: self)
    }
    let withdraw = observer.decide(self, transaction.exchange)
    // It may have been answered already, and another delegate asked.
    if answer != nil, self.asked === asked { self.withdraw = withdraw }
  }

  /// The answer of the delegate that was asked last. [loop]
  package func give(_ result: Result<ServerTrustDecision, StageFailure>, by observer: any HopObserver) {
    guard answer != nil, let asked, asked.observer === observer else { return }
    transaction.loop.disarm(timer)
    withdraw = nil
    switch result {
    case .success(.performDefaultHandling): askNext()
    case .success(.accept): finish(.accept)
    case .success(.refuse):
      let message = "it does not trust the certificate of \(PlainText.quote(trust.host))"
      refuse(TransactionError(code: .tls, message: message, stage: asked.name, isBeforeSending: true))
    case .failure(let failure): refuse(TransactionError(failure, stage: asked.name))
    }
  }

  /// The transaction has ended.
  func end() { finish(nil) }

  private func refuse(_ error: TransactionError) {
    transaction.hopFailure = error
    finish(.refuse)
  }

  private func finish(_ decision: ServerTrustDecision?) {
    guard let answer = answer.take() else { return }
    transaction.loop.disarm(timer)
    withdraw.take()?()
    asked = nil
    transaction.trustQuestion = nil
    answer(decision)
  }
}

extension TrustQuestion: LoopTimerTarget {
  package func timerDidFire(_ timer: LoopTimer) {
    guard let asked else { return }
    let message = "\(asked.interceptor.overdueWords) within its deadline of \(asked.deadline ?? .zero)"
    refuse(TransactionError(code: .stageTimeout, message: message, stage: asked.name, isBeforeSending: true))
  }
}

extension Transaction {
  /// Whether a delegate decides about servers' certificates.
  var asksTrust: Bool {
    delegate?.observer?.decidesTrust == true || pipeline.delegate?.observer?.decidesTrust == true
  }

  package func transferDidMeet(_ trust: ServerTrust, answer: @escaping (ServerTrustDecision?) -> Void) {
    guard !machine.isDone else { return answer(nil) }
    trustQuestion?.end()
    let bindings = [delegate, pipeline.delegate].compactMap(\.self).filter { $0.observer?.decidesTrust == true }
    let question = TrustQuestion(trust, self, bindings, answer: answer)
    trustQuestion = question
    question.askNext()
  }
}
