import SluiceMessages

// Challenges (RFC 9110 §11).
extension Transaction {
  /// What must be decided about a head that demands credentials. Nil if no stage, delegate or responder can answer, or
  /// if there is no challenge.
  func challenged(_ head: Response) -> TransactionMachine.Crossing? {
    let answered = hops?.answered ?? 0
    guard answered < HopState.maximumAnswers, mayAnswer(head.status) else { return nil }
    let challenges = Challenge.challenges(
      in: head.headers, head.status == 407 ? "proxy-authenticate" : "www-authenticate")
    guard !challenges.isEmpty else { return nil }
    let hops = self.hops ?? HopState()
    self.hops = hops
    hops.redirect = nil
    hops.challenges = challenges
    hops.status = head.status
    // The additional call is for the responder.
    return TransactionMachine.Crossing(
      isChallenge: true, stages: hopStageCount * challenges.count + 1, isReplayable: isHopReplayable)
  }

  /// Credentials for a proxy go only to a proxy; a server that demands them gets none. In a tunnel, a 407 comes from
  /// the server.
  private func mayAnswer(_ status: Int) -> Bool {
    let origin = requestForms.native.url.origin
    if status == 407 {
      return environment.transport.usesProxy(for: origin)
    }
    return delegate != nil || pipeline.answersChallenges
      || pipeline.settings.challengeResponder?.hasCredentials(status: status, for: self) == true
  }

  /// The default handling; true if the challenge has an answer. If the body cannot be sent again, the machine then fails
  /// the transaction.
  func answerOurselves(_ hops: HopState) -> Bool {
    if hops.status == 407 {
      let origin = requestForms.native.url.origin
      return environment.transport.answerProxy(hops.challenges, for: origin, answered: hops.answered)
    }
    guard let responder = pipeline.settings.challengeResponder,
      let value = responder.answer(hops.challenges, status: hops.status, on: self)
    else { return false }
    requestForms.native.headers["Authorization"] = value
    return true
  }

  /// Sends the answer of a stage or the responder with the next hop; from here on the answer counts as a secret.
  func sendCredentials(_ hops: HopState) {
    hops.answered += 1
    hops.forgetVisited()
    let name = hops.status == 407 ? "proxy-authorization" : "authorization"
    let marks = hops.status == 407 ? HeaderFields.Marks.credentials.union(.forProxy) : .credentials
    var next = requestForms.native.headers.firstIndex(named: name.utf8.span)
    while let index = next {
      requestForms.native.headers.mark(at: index, marks)
      next = requestForms.native.headers.firstIndex(named: name.utf8.span, from: index + 1)
    }
  }
}

// A body that can be sent only once must not be sent before the server has named its challenge.
extension Transaction {
  /// Whether this hop is sent without the body of the request, to get the challenge of the server.
  var isAsking: Bool { hops?.isAsking == true }

  /// Leaves out the body of the hop if the server must be asked first.
  ///
  /// - Returns: whether the body is left out. ``wholeContent`` then has it.
  func asksFirst(_ body: Body) -> Bool {
    guard case .stream = body, hops?.isUnprotected != true,
      pipeline.settings.challengeResponder?.awaitsChallenge(for: self) == true
    else { return false }
    let hops = self.hops ?? HopState()
    self.hops = hops
    hops.isAsking = true
    wholeContent = requestForms.native.content
    requestForms.native.content = RequestContent(body: .empty, trailers: nil)
    return true
  }

  /// What must be done after the server has accepted the request without its body: it wants no credentials, so the whole
  /// request follows.
  func unprotected() -> TransactionMachine.Crossing {
    hops?.isUnprotected = true
    return TransactionMachine.Crossing(sendsWhole: true)
  }
}

extension HeaderFields.Marks {
  static let credentials: HeaderFields.Marks = [.sensitive, .addedByStage]
}
