import CSluice

/// The table `sluice.interceptor/1` of a type, with NULL for protocols that it does not conform to; nil if it conforms
/// to none.
func makeInterceptorTable(_ type: any Plugin.Type) -> sluice_interceptor? {
  var table = sluice_interceptor()
  table.size = UInt32(MemoryLayout<sluice_interceptor>.size)
  table.flags = type.options.rawValue & UInt32(SLUICE_FLAG_SERIAL | SLUICE_FLAG_BLOCKING)
  if type.options.contains(.wantsRequestBody) { table.wants |= UInt32(SLUICE_WANTS_REQUEST_BODY) }
  if type.options.contains(.wantsResponseBody) { table.wants |= UInt32(SLUICE_WANTS_RESPONSE_BODY) }
  if type is any RequestInterceptor.Type || type is any SynchronousRequestInterceptor.Type {
    table.on_request = { interceptRequest($0, $1) }
  }
  if type is any ResponseInterceptor.Type || type is any SynchronousResponseInterceptor.Type {
    table.on_response = { interceptResponse($0, $1) }
  }
  if type is any IssueInterceptor.Type { table.on_issue = { interceptIssue($0, $1) } }
  if type is any FailureInterceptor.Type { table.on_failure = { interceptFailure($0, $1, $2) } }
  if type is any RedirectInterceptor.Type { table.on_redirect = { interceptRedirect($0, $1, $2) } }
  if type is any ChallengeInterceptor.Type { table.on_challenge = { interceptChallenge($0, $1, $2) } }
  if type is any InformationalInterceptor.Type { table.on_informational = { interceptInformational($0, $1, $2) } }
  table.on_cancel = { Instance.from($0)?.suspended.remove($1)?.abandon() }
  let hasAny =
    table.on_request != nil || table.on_response != nil || table.on_issue != nil || table.on_failure != nil
    || table.on_redirect != nil || table.on_challenge != nil || table.on_informational != nil
    // Its calls may suspend, and are then cancelled here.
    || type is any BodyInterceptor.Type
  return hasAny ? table : nil
}

private func interceptRequest(_ instance: UnsafeMutableRawPointer?, _ exchange: OpaquePointer?) -> sluice_verdict {
  guard let instance = Instance.from(instance), let exchange else { return sluice_verdict(SLUICE_VERDICT_FAIL) }
  if let stage = instance.synchronousRequest {
    return instance.runNow(exchange) { call in
      try stage.intercept(Request(call: call), context: RequestContext(instance.context(of: exchange), call))
    }
  }
  guard let stage = instance.request else { return sluice_verdict(SLUICE_VERDICT_CONTINUE) }
  return instance.run(exchange) { try await stage.intercept(Request(call: $0), context: $1) }
}

private func interceptResponse(_ instance: UnsafeMutableRawPointer?, _ exchange: OpaquePointer?) -> sluice_verdict {
  guard let instance = Instance.from(instance), let exchange else { return sluice_verdict(SLUICE_VERDICT_FAIL) }
  if let stage = instance.synchronousResponse {
    return instance.runNow(exchange) { call in
      let context = RequestContext(instance.context(of: exchange), call)
      try stage.intercept(Response(call: call), context: ResponseContext(request: context))
    }
  }
  guard let stage = instance.response else { return sluice_verdict(SLUICE_VERDICT_CONTINUE) }
  return instance.run(exchange) {
    try await stage.intercept(Response(call: $0), context: ResponseContext(request: $1))
  }
}

private func interceptIssue(_ instance: UnsafeMutableRawPointer?, _ exchange: OpaquePointer?) -> sluice_verdict {
  guard let instance = Instance.from(instance), let stage = instance.issue, let exchange else {
    return sluice_verdict(SLUICE_VERDICT_FAIL)
  }
  return instance.runNow(exchange) { call in
    do {
      try stage.interceptIssue(Request(call: call), context: RequestContext(instance.context(of: exchange), call))
    } catch is RetryRequestError {
      throw PluginFailure(message: "the stage asked for a retry while the request is being sent")
    }
  }
}

private func interceptFailure(
  _ instance: UnsafeMutableRawPointer?, _ exchange: OpaquePointer?, _ failure: UnsafePointer<sluice_failure>?
) -> sluice_verdict {
  guard let instance = Instance.from(instance), let stage = instance.failure, let exchange, let failure else {
    return sluice_verdict(SLUICE_VERDICT_CONTINUE)
  }
  let reason = Failure(failure.pointee)
  return instance.run(exchange) {
    try await stage.interceptFailure(reason, of: Request(call: $0), context: ResponseContext(request: $1))
  }
}
