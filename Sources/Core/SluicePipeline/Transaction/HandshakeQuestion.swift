package import SluiceMessages

/// A question to the delegates of a transaction; the handshake of its connection waits for the answer.
///
/// The delegates that answer this kind of challenge are asked in turn, until one makes the decision. The answer is
/// given exactly once, even if a delegate misses its deadline or the transaction ends first.
///
/// Unchecked because it is confined to the loop of the transaction.
package final class HandshakeQuestion: @unchecked Sendable {
  package let challenge: HandshakeChallenge
  private let transaction: Transaction
  private var rest: ArraySlice<StageBinding>
  private var asked: StageBinding?
  private var withdraw: (() -> Void)?
  private var answer: ((HandshakeDecision?) -> Void)?
  private let timer = LoopTimer()
  private var isDecided = false

  init(
    _ challenge: HandshakeChallenge, _ transaction: Transaction, _ bindings: [StageBinding],
    answer: @escaping (HandshakeDecision?) -> Void
  ) {
    self.challenge = challenge
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
    let withdraw = observer.decide(self, transaction)
    // By now the delegate may have answered, and another delegate may have been asked.
    if !isDecided, answer != nil, self.asked === asked { self.withdraw = withdraw }
  }

  /// The answer of the delegate that was asked last. [loop]
  package func give(_ result: Result<HandshakeDecision, StageFailure>, by observer: any HopObserver) {
    guard !isDecided, answer != nil, let asked, asked.observer === observer else { return }
    transaction.loop.disarm(timer)
    withdraw = nil
    switch result {
    case .success(.performDefaultHandling): askNext()
    case .success(.refuse): refuse(refusal(by: asked))
    case .success(let decision): finish(decision)
    case .failure(let failure): refuse(TransactionError(failure, stage: asked.name))
    }
  }

  private func refusal(by asked: StageBinding) -> TransactionError {
    let host = PlainText.quote(challenge.host)
    return switch challenge {
    case .serverTrust:
      TransactionError(
        code: .tls, message: "it does not trust the certificate of \(host)", stage: asked.name, isBeforeSending: true)
    case .clientCertificate:
      TransactionError(
        code: .cancelled, message: "it cancelled when \(host) asked for a client certificate", stage: asked.name,
        isBeforeSending: true)
    }
  }

  /// Ends the question because the transaction has ended.
  func end() { deliver(nil) }

  private func refuse(_ error: TransactionError) {
    transaction.hopFailure = error
    finish(.refuse)
  }

  /// The handshake continues in a later turn of the loop, because a delegate may have cancelled its own call before it
  /// answered.
  private func finish(_ decision: HandshakeDecision) {
    guard !isDecided else { return }
    isDecided = true
    settle()
    transaction.loop.post { [self] in deliver(decision) }
  }

  private func settle() {
    transaction.loop.disarm(timer)
    withdraw.take()?()
    asked = nil
  }

  private func deliver(_ decision: HandshakeDecision?) {
    guard let answer = answer.take() else { return }
    settle()
    transaction.handshakeQuestion = nil
    answer(decision)
  }
}

extension HandshakeQuestion: LoopTimerTarget {
  package func timerDidFire(_ timer: LoopTimer) {
    guard let asked else { return }
    let message = "\(asked.interceptor.overdueWords) within its deadline of \(asked.deadline ?? .zero)"
    refuse(TransactionError(code: .stageTimeout, message: message, stage: asked.name, isBeforeSending: true))
  }
}

extension Transaction {
  /// Which challenges of a handshake the transaction's delegates answer; nil if they answer none.
  var handshakePolicy: HandshakePolicy? {
    .merge(delegate?.observer?.handshakePolicy, pipeline.delegate?.observer?.handshakePolicy)
  }

  package func transferDidMeet(_ challenge: HandshakeChallenge, answer: @escaping (HandshakeDecision?) -> Void) {
    guard !machine.isDone else { return answer(nil) }
    handshakeQuestion?.end()
    let bindings = [delegate, pipeline.delegate].compactMap(\.self).filter {
      $0.observer?.handshakePolicy?.answers(challenge) == true
    }
    let question = HandshakeQuestion(challenge, self, bindings, answer: answer)
    handshakeQuestion = question
    question.askNext()
  }
}
