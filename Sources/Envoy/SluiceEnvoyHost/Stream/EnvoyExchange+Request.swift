import CEnvoy
import SluiceAssembly
import SluiceForeign
import SluiceMessages
import SluicePipeline

extension EnvoyExchange {
  func requestHeaders(isLast: Bool) -> sluice_envoy_headers_status {
    isRequestWhole = isLast
    guard host.works(with: stream) else {
      decision = .reply(EnvoyReply.response(500, .internalError))
      awaitDecision()
      return SLUICE_ENVOY_HEADERS_STOP
    }
    do throws(MessageError) { original = try Request(of: stream, urls: lane.urls) } catch {
      host.log(.warning, "a request is refused: \(error)")
      decision = .reply(EnvoyReply.response(400, .requestFault))
      awaitDecision()
      return SLUICE_ENVOY_HEADERS_STOP
    }
    if !isLast, lane.pipeline.requestStagesWantBody {
      phase = .gatheringRequest
      return SLUICE_ENVOY_HEADERS_STOP
    }
    return begin(isLast ? .empty : .stream(Self.passingBody), in: SLUICE_ENVOY_RECEIVED)
      ? SLUICE_ENVOY_HEADERS_CONTINUE : SLUICE_ENVOY_HEADERS_STOP
  }

  func requestBody(isLast: Bool) -> sluice_envoy_body_status {
    switch phase {
    case .gatheringRequest:
      return isLast && beginWhole() ? SLUICE_ENVOY_BODY_CONTINUE : SLUICE_ENVOY_BODY_BUFFER
    case .request: return SLUICE_ENVOY_BODY_HOLD
    case .response, .gatheringResponse: noteContinuedRequest()
    case .upstream, .passing, .over: break
    }
    return SLUICE_ENVOY_BODY_CONTINUE
  }

  func requestTrailers() -> sluice_envoy_headers_status {
    switch phase {
    case .gatheringRequest: return beginWhole() ? SLUICE_ENVOY_HEADERS_CONTINUE : SLUICE_ENVOY_HEADERS_STOP
    case .request: return SLUICE_ENVOY_HEADERS_STOP
    case .response, .gatheringResponse: noteContinuedRequest()
    case .upstream, .passing, .over: break
    }
    return SLUICE_ENVOY_HEADERS_CONTINUE
  }

  private func noteContinuedRequest() {
    if !sluice_envoy_continues_sides_apart() { cannotContinueResponse = true }
  }

  /// The body is complete. Returns whether the request goes on now.
  private func beginWhole() -> Bool {
    isRequestWhole = true
    let (body, place) = stream.takeBody(of: .request)
    original?.body = body
    return begin(body, in: place)
  }

  /// Begins the transaction. Returns whether the request goes on now.
  private func begin(_ body: Body, in place: sluice_envoy_place) -> Bool {
    guard var request = original else { return false }
    request.body = body
    begin(request, parent: host.parent(of: request))
    if settle(in: place) { return true }
    awaitDecision()
    return false
  }

  /// A body that passes inside Envoy. A stage that wants the body gets it gathered instead.
  private static let passingBody = BodyStream { _ in
    throw TransportError(.bodyFile, "the body of the request passes inside Envoy, where the pipeline cannot read it")
  }

  /// Changes the request in Envoy. Returns whether it goes on.
  func send(_ request: Request, in place: sluice_envoy_place) -> Bool {
    guard let original else { return false }
    guard !hasIssueStages || host.hasIssueFilters else { return refuseUnissued() }
    if hasOtherBody(request) {
      let bytes = request.body.bytes ?? []
      guard isRequestWhole, stream.replaceBody(of: .request, by: bytes, in: place) else {
        host.log(.warning, "a request stage has set another body, but the body of this request passes inside Envoy")
        decision = .reply(EnvoyReply.response(500, .internalError))
        return false
      }
      stream.setLength(bytes.count, of: .request)
    }
    if request.method != original.method { stream.set(":method", to: request.method, in: .request) }
    if request.url != original.url {
      stream.set(":path", to: request.url.requestTarget, in: .request)
      stream.set(":authority", to: request.url.hostField, in: .request)
    }
    stream.apply(from: original.headers, to: request.headers, in: BodySide.request.part)
    sent = request
    phase = .upstream
    if host.hasIssueFilters { becomeFindable() } else { issueHere() }
    return true
  }

  /// Whether an upstream must not get a request, or its response pass, without the issue stages. Returns false.
  func refuseUnissued() -> Bool {
    host.log(
      .error,
      "a request is refused: the configuration has issue stages, but the cluster of this request has no filter \"issue\""
        + " among its upstream filters")
    decision = .reply(EnvoyReply.response(502, .internalError))
    return false
  }

  /// The hop of a request that no upstream filter sees. There are no issue stages.
  func issueHere() {
    guard let observer, let sent else { return }
    var fields = sent.headers
    hop.begin(fields, fields)
    _ = observer.transferWillIssue(&fields)
  }

  private func hasOtherBody(_ request: Request) -> Bool {
    guard let bytes = request.body.bytes else { return false }
    return !isRequestWhole || bytes != original?.body.bytes ?? []
  }
}
