import CSluice

/// The table `sluice.body/1`; nil for a type that does not see pieces.
func makeBodyTable(_ type: Any.Type) -> sluice_body? {
  guard let type = type as? any BodyInterceptor.Type, !type.bodySides.isEmpty else { return nil }
  var table = sluice_body()
  table.size = UInt32(MemoryLayout<sluice_body>.size)
  if type.bodySides.contains(.request) { table.sides |= UInt32(SLUICE_BODY_SIDE_REQUEST) }
  if type.bodySides.contains(.response) { table.sides |= UInt32(SLUICE_BODY_SIDE_RESPONSE) }
  table.on_chunk = { passPiece($0, $1, $2, $3) }
  table.on_end = { endBody($0, $1, $2) }
  return table
}

private func passPiece(
  _ instance: UnsafeMutableRawPointer?, _ exchange: OpaquePointer?, _ side: sluice_side, _ piece: sluice_bytes
) -> sluice_body_verdict {
  let bytes = [UInt8](UnsafeRawBufferPointer(start: piece.data, count: piece.size))
  return pass(instance, exchange, side) { try await $0.transform.transform(bytes) }
}

private func endBody(
  _ instance: UnsafeMutableRawPointer?, _ exchange: OpaquePointer?, _ side: sluice_side
) -> sluice_body_verdict {
  pass(instance, exchange, side) { try await $0.transform.finish() }
}

/// Runs a method of the body's transform, and writes the returned bytes.
private func pass(
  _ instance: UnsafeMutableRawPointer?, _ exchange: OpaquePointer?, _ side: sluice_side,
  _ method: @escaping @Sendable (UncheckedTransform) async throws -> [UInt8]
) -> sluice_body_verdict {
  guard let instance = Instance.from(instance), let stage = instance.parts.body, let exchange,
    let side = MessageSide(rawValue: side)
  else { return sluice_body_verdict(SLUICE_BODY_VERDICT_FAIL) }
  let facts = instance.context(of: exchange)
  let call = SuspendableCall(link: instance.host.link, suspended: instance.suspended, loop: facts.loop)
  let transform: UncheckedTransform?
  do {
    transform = try call.transform(of: side, facts, on: exchange, stage)
  } catch {
    return bodyVerdict(call.answer(CallOutcome(error), on: exchange))
  }
  guard let transform else { return sluice_body_verdict(SLUICE_BODY_VERDICT_PASS) }
  let verdict = call.run(on: exchange) {
    do {
      try call.writePiece(side, try await method(transform))
    } catch is RetryRequestError {
      throw StageFailure(message: "the stage asked for a retry while a body passes")
    }
  }
  return bodyVerdict(verdict)
}

/// Converts the answer of an interceptor's call into the answer to a piece.
private func bodyVerdict(_ verdict: sluice_verdict) -> sluice_body_verdict {
  switch Int(verdict) {
  case Int(SLUICE_VERDICT_CONTINUE): sluice_body_verdict(SLUICE_BODY_VERDICT_TAKEN)
  case Int(SLUICE_VERDICT_SUSPENDED): sluice_body_verdict(SLUICE_BODY_VERDICT_SUSPENDED)
  default: sluice_body_verdict(SLUICE_BODY_VERDICT_FAIL)
  }
}

extension SuspendableCall {
  /// The transform of the current body; nil for a body that passes unchanged.
  fileprivate func transform(
    of side: MessageSide, _ facts: sluice_context, on exchange: OpaquePointer, _ stage: any BodyInterceptor
  ) throws -> UncheckedTransform? {
    enter(exchange)
    defer { leave() }
    return try bodyTransforms()?.transform(of: side, attempt: facts.attempt, hop: facts.hop) {
      try stage.interceptBody(
        PassingBody(
          side: side == .request ? .request : .response, request: StageRequest(call: self),
          response: side == .request ? nil : StageResponse(call: self), context: RequestContext(facts, self)))
    }
  }

  fileprivate func answer(_ outcome: CallOutcome, on exchange: OpaquePointer) -> sluice_verdict {
    enter(exchange)
    defer { leave() }
    return verdict(outcome)
  }

  fileprivate func writePiece(_ side: MessageSide, _ bytes: [UInt8]) throws(StageFailure) {
    guard !bytes.isEmpty else { return }
    try write("a piece of the body") { api, exchange in
      bytes.withUnsafeBytes { api.pointee.body_write(exchange, side.rawValue, sluice_bytes($0)) }
    }
  }
}
