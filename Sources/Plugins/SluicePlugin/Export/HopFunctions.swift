import CSluice
import SluiceMessages

func interceptRedirect(
  _ instance: UnsafeMutableRawPointer?, _ exchange: OpaquePointer?, _ redirect: UnsafePointer<sluice_redirect>?
) -> sluice_verdict {
  guard let instance = Instance.from(instance), let stage = instance.parts.redirect, let exchange, let redirect else {
    return sluice_verdict(SLUICE_VERDICT_CONTINUE)
  }
  let facts = Redirect(redirect.pointee)
  return instance.run(exchange) { call, context in
    .other {
      guard let facts else { throw StageFailure(message: "the target of the redirect is not a URL") }
      let context = ResponseContext(request: context)
      let decision = try await refusingRetry {
        try await stage.interceptRedirect(facts, response: StageResponse(call: call), context: context)
      }
      if decision == .takeResponse { call.decide(sluice_verdict(SLUICE_VERDICT_RESPOND)) }
    }
  }
}

func interceptChallenge(
  _ instance: UnsafeMutableRawPointer?, _ exchange: OpaquePointer?, _ challenge: UnsafePointer<sluice_challenge>?
) -> sluice_verdict {
  guard let instance = Instance.from(instance), let stage = instance.parts.challenge, let exchange, let challenge,
    // The host passes on only valid challenges.
    let offer = ChallengeOffer(challenge.pointee)
  else { return sluice_verdict(SLUICE_VERDICT_CONTINUE) }
  return instance.run(exchange) { call, context in
    .other {
      let context = ResponseContext(request: context)
      let decision = try await refusingRetry {
        try await stage.interceptChallenge(offer, response: StageResponse(call: call), context: context)
      }
      try call.answer(offer, decision)
    }
  }
}

func interceptInformational(
  _ instance: UnsafeMutableRawPointer?, _ exchange: OpaquePointer?, _ response: UnsafePointer<sluice_informational>?
) {
  guard let instance = Instance.from(instance), let stage = instance.parts.informational, let exchange, let response
  else {
    return
  }
  let call = ExchangeCall(link: instance.host.link)
  call.enter(exchange)
  defer { call.leave() }
  stage.interceptInformational(
    InformationalResponse(response.pointee), of: StageRequest(call: call),
    context: RequestContext(instance.context(of: exchange), call))
}

extension ExchangeCall {
  fileprivate func answer(_ offer: ChallengeOffer, _ decision: ChallengeDecision) throws(StageFailure) {
    switch decision {
    case .performDefaultHandling: break
    case .answer(let value):
      try Headers(call: self, side: .request).set(offer.credentialsHeader, to: value)
      decide(sluice_verdict(SLUICE_VERDICT_RESPOND))
    case .credentials(let user, let password):
      let verdict = withExchange { api, exchange in
        withText(user) { user in withText(password) { api.pointee.challenge_answer(exchange, user, $0) } }
      }
      if let verdict { decide(verdict) }
    case .cancel:
      throw StageFailure(code: "cancelled", message: "it cancelled on the challenge \(offer.challenge.scheme)")
    }
  }
}

private func refusingRetry<Decision: Sendable>(
  _ method: @Sendable () async throws -> Decision
) async throws -> Decision {
  do { return try await method() } catch is RetryRequestError {
    throw StageFailure(message: "the stage asked for a retry in a call that decides about a redirect or a challenge")
  }
}
