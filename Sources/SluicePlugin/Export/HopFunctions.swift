import CSluice

func interceptRedirect(
  _ instance: UnsafeMutableRawPointer?, _ exchange: OpaquePointer?, _ redirect: UnsafePointer<sluice_redirect>?
) -> sluice_verdict {
  guard let instance = Instance.from(instance), let stage = instance.redirect, let exchange, let redirect else {
    return sluice_verdict(SLUICE_VERDICT_CONTINUE)
  }
  let facts = Redirect(redirect.pointee)
  return instance.run(exchange) { call, context in
    let context = ResponseContext(request: context)
    let decision = try await refusingRetry {
      try await stage.interceptRedirect(facts, response: Response(call: call), context: context)
    }
    if decision == .takeResponse { call.decide(sluice_verdict(SLUICE_VERDICT_RESPOND)) }
  }
}

func interceptChallenge(
  _ instance: UnsafeMutableRawPointer?, _ exchange: OpaquePointer?, _ challenge: UnsafePointer<sluice_challenge>?
) -> sluice_verdict {
  guard let instance = Instance.from(instance), let stage = instance.challenge, let exchange, let challenge else {
    return sluice_verdict(SLUICE_VERDICT_CONTINUE)
  }
  let facts = Challenge(challenge.pointee)
  return instance.run(exchange) { call, context in
    let context = ResponseContext(request: context)
    let decision = try await refusingRetry {
      try await stage.interceptChallenge(facts, response: Response(call: call), context: context)
    }
    guard case .answer(let value) = decision else { return }
    try Headers(call: call, side: .request).set(facts.credentialsHeader, to: value)
    call.decide(sluice_verdict(SLUICE_VERDICT_RESPOND))
  }
}

private func refusingRetry<Decision: Sendable>(
  _ method: @Sendable () async throws -> Decision
) async throws -> Decision {
  do { return try await method() } catch is RetryRequestError {
    throw PluginFailure(message: "the stage asked for a retry where only a redirect or a challenge is decided about")
  }
}
