import CEnvoy
import SluiceAssembly
import SluiceForeign
import SluiceMessages
import SluicePipeline

extension EnvoyExchange {
  /// The head of a response has arrived, from the upstream or from Envoy itself.
  func responseHeaders(isLast: Bool) -> sluice_envoy_headers_status {
    isResponseWhole = isLast
    guard phase == .upstream, let observer, let head = Response(of: stream) else {
      // Envoy has answered before the request was on its way.
      end(as: .over)
      return SLUICE_ENVOY_HEADERS_CONTINUE
    }
    phase = .response
    originalHead = head
    // Another cluster has the upstream filter, or Envoy has made no attempt.
    if !hop.isIssued, !hasIssueStages { issueHere() }
    if isNotIssued { _ = refuseUnissued() } else { take(observer.transferDidReceiveHead(head)) }
    if settle(in: SLUICE_ENVOY_RECEIVED) { return SLUICE_ENVOY_HEADERS_CONTINUE }
    if phase != .gatheringResponse { awaitDecision() }
    return SLUICE_ENVOY_HEADERS_STOP
  }

  /// Whether an upstream has got the request without the issue stages.
  private var isNotIssued: Bool {
    !hop.isIssued && hasIssueStages
      && stream.attribute(SLUICE_ENVOY_UPSTREAM_ADDRESS) != nil
  }

  func responseBody(isLast: Bool) -> sluice_envoy_body_status {
    if isLast { isResponseWhole = true }
    switch phase {
    case .gatheringResponse:
      if isTooLarge {
        host.log(.warning, "a stage wants the whole body of a response, which is larger than Envoy's buffer")
        phase = .response
        decision = .reply(EnvoyReply.response(502, .responseTooLarge))
        awaitDecision()
        return SLUICE_ENVOY_BODY_HOLD
      }
      return isLast && endWhole() ? SLUICE_ENVOY_BODY_CONTINUE : SLUICE_ENVOY_BODY_BUFFER
    case .response:
      // A body that must be gathered cannot wait for room.
      return lane.pipeline.responseStagesWantBody ? SLUICE_ENVOY_BODY_BUFFER : SLUICE_ENVOY_BODY_HOLD
    case .passing:
      guard passesPieces else {
        if isLast { observer?.transferDidEnd(TransferEnd()) }
        return SLUICE_ENVOY_BODY_CONTINUE
      }
      return passResponsePieces(to: SLUICE_ENVOY_RECEIVED) ? SLUICE_ENVOY_BODY_CONTINUE : SLUICE_ENVOY_BODY_HOLD
    case .gatheringRequest, .request, .upstream, .over: break
    }
    return SLUICE_ENVOY_BODY_CONTINUE
  }

  private var passesPieces: Bool { transaction?.pipeline.changesResponsePieces ?? false }

  /// What has come out of the stages is kept while a piece waits, up to this size. In Envoy's buffer, it would be mixed with
  /// what the stages have not seen. If there is more, further pieces come, and with them another hook that can continue.
  private static let outputBytes = 1 << 20

  /// Passes what has arrived to the stages, and what has come out of them on. Returns whether the response goes on. While a
  /// piece waits for a stage, further ones stay in Envoy's buffer, which stops reading when it is full.
  func passResponsePieces(to place: sluice_envoy_place) -> Bool {
    if !isPaused {
      let piece = stream.takePieces(of: .response)
      if !piece.isEmpty { isPaused = observer?.transferDidReceive(piece) == .pause }
    }
    if !isPaused, isResponseWhole, !hasResponseEnded {
      hasResponseEnded = true
      observer?.transferDidEnd(TransferEnd())
    }
    // At the end, stages can still hold bytes until the transaction is over.
    isResponseHeld = decision != nil || isPaused || isResponseWhole && !isComplete
    if isResponseHeld, isResponseWhole || decision != nil || responseOutput.count < Self.outputBytes {
      awaitDecision()
      return false
    }
    stream.append(responseOutput, to: .response, in: place)
    responseOutput = []
    return true
  }

  func responseTrailers() -> sluice_envoy_headers_status {
    isResponseWhole = true
    switch phase {
    case .gatheringResponse: return endWhole() ? SLUICE_ENVOY_HEADERS_CONTINUE : SLUICE_ENVOY_HEADERS_STOP
    case .response: return SLUICE_ENVOY_HEADERS_STOP
    case .passing:
      guard passesPieces else {
        observer?.transferDidEnd(TransferEnd())
        return SLUICE_ENVOY_HEADERS_CONTINUE
      }
      if !passResponsePieces(to: SLUICE_ENVOY_BUFFERED) { return SLUICE_ENVOY_HEADERS_STOP }
    case .gatheringRequest, .request, .upstream, .over: break
    }
    return SLUICE_ENVOY_HEADERS_CONTINUE
  }

  private var isTooLarge: Bool {
    guard let limit = stream.bufferLimit else { return false }
    let buffered = stream.byteCount(of: .response, SLUICE_ENVOY_BUFFERED)
    return buffered + stream.byteCount(of: .response, SLUICE_ENVOY_RECEIVED) > limit
  }

  /// Waits for the body of the response. Returns whether the response goes on now.
  func gather() -> Bool {
    phase = .gatheringResponse
    return isResponseWhole && endWhole()
  }

  /// The body is complete. Returns whether the response goes on now.
  private func endWhole() -> Bool {
    phase = .response
    let (body, place) = stream.takeBody(of: .response)
    originalHead?.body = body
    observer?.transferDidEnd(TransferEnd(body: body))
    if settle(in: place) { return true }
    awaitDecision()
    return false
  }

  /// Passes a head on. Its body passes inside Envoy.
  func passOn(_ head: Response) -> Bool {
    change(to: head)
    phase = .passing
    guard isResponseWhole else { return true }
    if passesPieces { return passResponsePieces(to: SLUICE_ENVOY_BUFFERED) }
    observer?.transferDidEnd(TransferEnd())
    return true
  }

  /// Passes on a response with its body. Returns whether it goes on.
  func passOn(whole response: Response, in place: sluice_envoy_place) -> Bool {
    guard let original = originalHead else { return false }
    let bytes = response.body.bytes ?? []
    if !isResponseWhole || bytes != original.body.bytes ?? [] {
      guard isResponseWhole, stream.replaceBody(of: .response, by: bytes, in: place) else {
        // A body that is still arriving must not follow.
        decision = .reply(response)
        return false
      }
      stream.setLength(bytes.count, of: .response)
    }
    change(to: response)
    phase = .over
    return true
  }

  private func change(to response: Response) {
    guard let original = originalHead else { return }
    if response.status != original.status { stream.set(":status", to: String(response.status), in: .response) }
    stream.apply(from: original.headers, to: response.headers, in: BodySide.response.part)
  }
}
