import SluiceMessages

// Redirects and challenges: what a head demands, the stages that decide about it, and the request of the next hop.
extension Transaction {
  /// Returns the event with which the machine is told about the head of a response.
  func eventOfHead() -> TransactionMachine.Event {
    guard let head = responseForms.native else { return .head }
    if head.status < 300 { return isAsking ? .crossed(unprotected()) : .head }
    let crossing =
      head.status < 400 ? redirected(head) : head.status == 401 || head.status == 407 ? challenged(head) : nil
    return crossing.map { .crossed($0) } ?? .head
  }

  /// The stages that are asked, followed by the delegates: the transaction's, then the engine's.
  var hopStageCount: Int { pipeline.hopStages.count + delegates.count }

  private var delegates: [StageBinding] { [delegate, pipeline.delegate].compactMap(\.self) }

  func hopStage(_ index: Int) -> StageBinding { (pipeline.hopStages + delegates)[index] }

  /// The body of this hop before stages change its pieces.
  private var hopBody: Body { wholeContent?.body ?? requestForms.native.body }

  /// Whether the body of this hop can be sent again. It is untouched while the server is asked for its challenge.
  var isHopReplayable: Bool { isAsking || hopBody.isReplayable }

  /// Asks the stages from a position on. All stages get a challenge before any stage gets the next challenge; the
  /// engine's responder is asked last.
  func callHopStages(from first: Int) -> TransactionMachine.Event? {
    guard let hops else { return .answered(.proceed, stage: "") }
    let bindings = pipeline.hopStages + delegates
    let offers = hops.redirect == nil ? bindings.count * hops.challenges.count : bindings.count
    phase = hops.redirect == nil ? .challenge : .redirect
    for index in first..<max(first, offers) {
      let binding = bindings[index % bindings.count]
      guard binding.capabilities.contains(hops.redirect == nil ? .challenge : .redirect), matches(binding) else {
        continue
      }
      let place = StagePlace(phase: .hop, index: index % bindings.count)
      cursor.place = place
      if notes != nil { noteCall(binding) }
      let verdict = call(binding, hops, index / bindings.count, at: place)
      if verdict == .proceed, cursor.token == nil {
        if notes != nil { noteAnswer(.proceed) }
        continue
      }
      machine.reach(stage: index)
      return settle(verdict, binding)
    }
    cursor.place = nil
    machine.reach(stage: max(first, (machine.crossing?.stages ?? 1) - 1))
    return hops.redirect == nil && answerOurselves(hops)
      ? .answered(.respond, stage: "") : .answered(.proceed, stage: "")
  }

  private func call(_ binding: StageBinding, _ hops: HopState, _ number: Int, at place: StagePlace) -> Verdict {
    let started = loop.now
    let verdict: Verdict
    if let redirect = hops.redirect {
      verdict = binding.interceptor.interceptRedirect(self, redirect)
    } else {
      let offer = ChallengeOffer(status: hops.status, challenge: hops.challenges[number], answered: hops.answered)
      verdict = binding.interceptor.interceptChallenge(self, offer)
    }
    clock = loop.now
    if place.index < pipeline.hopStages.count {
      metrics.recordStage(.hop, place.index, nanoseconds: now().nanoseconds &- started.nanoseconds)
    }
    return verdict
  }

  /// Makes the request of the next hop from the request of the previous hop.
  func beginHop() {
    guard let hops else { return }
    restoreBody()
    if hops.redirect != nil { follow(hops) } else { sendCredentials(hops) }
    requestForms.document = nil
    beginSending()
  }

  /// Prepares the current request (``Exchange/requestForms``) for sending.
  func beginSending() {
    if spans != nil { tellSpans() }
    restoreBody()
    hop += 1
    leaveHop()
    result.timings = nil
  }

  private func restoreBody() {
    hops?.isAsking = false
    guard let wholeContent else { return }
    requestForms.native.content = wholeContent
    self.wholeContent = nil
  }
}
