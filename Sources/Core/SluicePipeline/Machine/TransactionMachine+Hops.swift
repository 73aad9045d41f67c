import SluiceMessages

// Redirects and challenges: from one hop to the next within an attempt.
//
//     head ─ did_receive ─ hop stages ─┬─ will_redirect ─ end of the hop ─ next hop
//                              │       └─ (answered challenge) ┘
//                              └─ taken as it is ─ response stages
extension TransactionMachine {
  /// The head of a redirect or a challenge, with what the transaction has found out about it.
  struct Crossing: Sendable, Equatable {
    var isChallenge = false
    /// The number of calls that can decide whether to follow the redirect or how to answer the challenge.
    var stages = 0
    /// Whether the body can be sent in the next hop.
    var isReplayable = true
    /// Whether the hop was sent without the body of the request, and the server wants no credentials.
    var sendsWhole = false
    /// Why a redirect cannot be followed. If there is such a failure, no stage is called.
    var failure: TransactionError?
  }

  mutating func crossed(_ crossing: Crossing) -> Action {
    guard case .connecting = phase else { return .wait }
    self.crossing = crossing
    phase = .crossingNotice
    return .emit(.didReceive)
  }

  mutating func crossingWasNoticed() -> Action {
    if let failure = crossing?.failure { return complete(failure) }
    if crossing?.sendsWhole == true { return endAskingHop() }
    return crossingStage(0)
  }

  mutating func crossingStage(_ index: Int) -> Action {
    guard let crossing else { return .wait }
    guard index < crossing.stages else { return crossing.isChallenge ? takeResponse() : follow() }
    phase = .crossingStage(index)
    return .callHopStage(index)
  }

  /// A stage has answered the challenge, or wants the redirect itself as the response.
  mutating func crossingWasAnswered(by stage: String) -> Action {
    guard let crossing, crossing.isChallenge else { return takeResponse() }
    guard crossing.isReplayable else {
      return complete(
        TransactionError(
          code: .bodyNotReplayable,
          message: "the server demands an answer to its challenge, but the request body was sent, and can be produced"
            + " only once; send it from memory or a file, or use Digest from the start (credentialPolicy .digest, --digest)",
          stage: stage.isEmpty ? nil : stage))
    }
    return endHop()
  }

  private mutating func follow() -> Action {
    phase = .redirectNotice
    return .emit(.willRedirect)
  }

  mutating func endHop() -> Action {
    guard isOnWire else { return beginHop() }
    phase = .endingHop(.hop)
    return .receive(.discard)
  }

  private mutating func endAskingHop() -> Action {
    guard isOnWire else { return sendWhole() }
    phase = .endingHop(.whole)
    return .receive(.discard)
  }

  /// The next hop has the whole request.
  mutating func sendWhole() -> Action {
    crossing = nil
    failure = nil
    phase = .resendNotice(.zero)
    return .emitResend(
      .zero,
      TransactionError(
        code: .notProcessed, message: "the server wants no credentials, so the request is sent with its body"))
  }

  mutating func beginHop() -> Action {
    crossing = nil
    failure = nil
    phase = .beginningHop
    return .beginHop
  }

  /// The redirect or challenge is handled like any other response, except that its `didReceive` was already reported.
  private mutating func takeResponse() -> Action {
    crossing = nil
    if !isOnWire, let failure { return failureStage(0, failure) }
    guard wantsBody else { return responseStage(0) }
    phase = .awaitingBody
    return .receive(.collect)
  }

  /// The connection died, or the attempt took too long, while a stage was deciding.
  mutating func crossingTimedOut(_ error: TransactionError) -> Action {
    crossing = nil
    guard isOnWire else { return failureStage(0, error) }
    phase = .endingHop(.fail(error))
    return .cutTransfer
  }
}
