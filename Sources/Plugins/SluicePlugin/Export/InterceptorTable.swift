import CSluice

/// The table `sluice.interceptor/1` of a stage, with NULL for functions that the stage does not have; nil if the stage
/// needs no table.
func makeInterceptorTable(_ kinds: StageKinds, _ options: PluginOptions) -> sluice_interceptor? {
  // This includes `.body`: the calls of a stage with sluice.body/1 can suspend, and `on_cancel` of this table cancels
  // them.
  let all: StageKinds = [.request, .response, .issue, .failure, .redirect, .challenge, .informational, .body]
  guard !kinds.isDisjoint(with: all) else { return nil }
  var table = sluice_interceptor()
  table.size = UInt32(MemoryLayout<sluice_interceptor>.size)
  table.flags = options.rawValue & UInt32(SLUICE_FLAG_SERIAL | SLUICE_FLAG_BLOCKING)
  if options.contains(.wantsRequestBody) { table.wants |= UInt32(SLUICE_WANTS_REQUEST_BODY) }
  if options.contains(.wantsResponseBody) { table.wants |= UInt32(SLUICE_WANTS_RESPONSE_BODY) }
  if kinds.contains(.request) { table.on_request = { interceptRequest($0, $1) } }
  if kinds.contains(.response) { table.on_response = { interceptResponse($0, $1) } }
  if kinds.contains(.issue) { table.on_issue = { interceptIssue($0, $1) } }
  if kinds.contains(.failure) { table.on_failure = { interceptFailure($0, $1, $2) } }
  if kinds.contains(.redirect) { table.on_redirect = { interceptRedirect($0, $1, $2) } }
  if kinds.contains(.challenge) { table.on_challenge = { interceptChallenge($0, $1, $2) } }
  if kinds.contains(.informational) { table.on_informational = { interceptInformational($0, $1, $2) } }
  table.on_cancel = { Instance.from($0)?.calls.suspended.remove($1)?.abandon() }
  return table
}

private func interceptRequest(_ instance: UnsafeMutableRawPointer?, _ exchange: OpaquePointer?) -> sluice_verdict {
  guard let instance = Instance.from(instance), let exchange else { return sluice_verdict(SLUICE_VERDICT_FAIL) }
  if instance.isSynchronous.request, let stage = instance.parts.synchronousRequest {
    return instance.runNow(exchange) { call in
      try stage.intercept(StageRequest(call: call), context: RequestContext(instance.context(of: exchange), call))
    }
  }
  guard let stage = instance.parts.request else { return sluice_verdict(SLUICE_VERDICT_CONTINUE) }
  return instance.run(exchange) { .request(stage, $1) }
}

private func interceptResponse(_ instance: UnsafeMutableRawPointer?, _ exchange: OpaquePointer?) -> sluice_verdict {
  guard let instance = Instance.from(instance), let exchange else { return sluice_verdict(SLUICE_VERDICT_FAIL) }
  if instance.isSynchronous.response, let stage = instance.parts.synchronousResponse {
    return instance.runNow(exchange) { call in
      let context = RequestContext(instance.context(of: exchange), call)
      try stage.intercept(StageResponse(call: call), context: ResponseContext(request: context))
    }
  }
  guard let stage = instance.parts.response else { return sluice_verdict(SLUICE_VERDICT_CONTINUE) }
  return instance.run(exchange) { .response(stage, ResponseContext(request: $1)) }
}

private func interceptIssue(_ instance: UnsafeMutableRawPointer?, _ exchange: OpaquePointer?) -> sluice_verdict {
  guard let instance = Instance.from(instance), let stage = instance.parts.issue, let exchange else {
    return sluice_verdict(SLUICE_VERDICT_FAIL)
  }
  return instance.runNow(exchange) { call in
    do {
      try stage.interceptIssue(StageRequest(call: call), context: RequestContext(instance.context(of: exchange), call))
    } catch is RetryRequestError {
      throw StageFailure(message: "the stage asked for a retry while the request is being sent")
    }
  }
}

private func interceptFailure(
  _ instance: UnsafeMutableRawPointer?, _ exchange: OpaquePointer?, _ failure: UnsafePointer<sluice_failure>?
) -> sluice_verdict {
  guard let instance = Instance.from(instance), let stage = instance.parts.failure, let exchange, let failure else {
    return sluice_verdict(SLUICE_VERDICT_CONTINUE)
  }
  let reason = Failure(failure.pointee)
  return instance.run(exchange) { call, context in
    .other {
      try await stage.interceptFailure(reason, of: StageRequest(call: call), context: ResponseContext(request: context))
    }
  }
}
