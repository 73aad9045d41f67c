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
  table.on_trailer = { passTrailer($0, $1, $2, $3, $4) }
  return table
}

private func passPiece(
  _ instance: UnsafeMutableRawPointer?, _ exchange: OpaquePointer?, _ side: sluice_side, _ piece: sluice_bytes
) -> sluice_body_verdict {
  let bytes = [UInt8](UnsafeRawBufferPointer(start: piece.data, count: piece.size))
  return pass(instance, exchange, side) { BodyOutput(bytes: try await $0.transform.transform(bytes)) }
}

private func endBody(
  _ instance: UnsafeMutableRawPointer?, _ exchange: OpaquePointer?, _ side: sluice_side
) -> sluice_body_verdict {
  pass(instance, exchange, side) { body in
    let bytes = try await body.transform.finish()
    return BodyOutput(bytes: bytes, trailers: try await body.transform.trailers())
  }
}

private func passTrailer(
  _ instance: UnsafeMutableRawPointer?, _ exchange: OpaquePointer?, _ side: sluice_side, _ name: sluice_text,
  _ value: sluice_text
) -> sluice_body_verdict {
  guard let instance = Instance.from(instance), let stage = instance.parts.body, let exchange,
    let side = MessageSide(rawValue: side)
  else { return sluice_body_verdict(SLUICE_BODY_VERDICT_FAIL) }
  let facts = instance.context(of: exchange)
  let call = ExchangeCall(link: instance.host.link)
  do {
    let body = try call.transform(of: side, facts, on: exchange, stage)
    let isKept = try body?.transform.keepsTrailer(String(name), String(value)) ?? true
    return sluice_body_verdict(isKept ? SLUICE_BODY_VERDICT_PASS : SLUICE_BODY_VERDICT_TAKEN)
  } catch {
    return bodyVerdict(call.answer(CallOutcome(error), on: exchange))
  }
}

/// What a method of a transform adds to the body.
private struct BodyOutput {
  var bytes: [UInt8]
  var trailers: [(name: String, value: String)] = []
}

/// Runs a method of the body's transform, and passes on what it returns.
private func pass(
  _ instance: UnsafeMutableRawPointer?, _ exchange: OpaquePointer?, _ side: sluice_side,
  _ method: @escaping @Sendable (UncheckedTransform) async throws -> BodyOutput
) -> sluice_body_verdict {
  guard let instance = Instance.from(instance), let stage = instance.parts.body, let exchange,
    let side = MessageSide(rawValue: side)
  else { return sluice_body_verdict(SLUICE_BODY_VERDICT_FAIL) }
  let facts = instance.context(of: exchange)
  let task = instance.calls.take()
  let call = task.makeCall(on: facts.loop)
  let transform: UncheckedTransform?
  do {
    transform = try call.transform(of: side, facts, on: exchange, stage)
  } catch {
    defer { instance.calls.give(task) }
    return bodyVerdict(call.answer(CallOutcome(error), on: exchange))
  }
  guard let transform else {
    instance.calls.give(task)
    return sluice_body_verdict(SLUICE_BODY_VERDICT_PASS)
  }
  let run = CallTask.Method.other {
    do {
      let output = try await method(transform)
      try call.writePiece(side, output.bytes)
      for (name, value) in output.trailers { try call.addTrailer(side, name, value) }
    } catch is RetryRequestError {
      throw StageFailure(message: "the stage asked for a retry while a body passes")
    }
  }
  return bodyVerdict(task.run(call, on: exchange, run))
}

/// Converts the answer of an interceptor's call into the answer to a piece.
private func bodyVerdict(_ verdict: sluice_verdict) -> sluice_body_verdict {
  switch Int(verdict) {
  case Int(SLUICE_VERDICT_CONTINUE): sluice_body_verdict(SLUICE_BODY_VERDICT_TAKEN)
  case Int(SLUICE_VERDICT_SUSPENDED): sluice_body_verdict(SLUICE_BODY_VERDICT_SUSPENDED)
  default: sluice_body_verdict(SLUICE_BODY_VERDICT_FAIL)
  }
}

extension ExchangeCall {
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

  fileprivate func addTrailer(_ side: MessageSide, _ name: String, _ value: String) throws(StageFailure) {
    var status = sluice_status(SLUICE_STATUS_OK)
    let isAdded = try write("trailer \"\(name)\"") { api, exchange in
      status = withText(name) { name in withText(value) { api.pointee.trailer_add(exchange, side.rawValue, name, $0) } }
      return status
    }
    guard !isAdded else { return }
    if status == sluice_status(SLUICE_STATUS_LIMIT) {
      throw StageFailure(message: "trailer \"\(name)\": the body has too many trailers, or trailers of too many bytes")
    }
    throw StageFailure(message: "trailer \"\(name)\": this body cannot have trailers")
  }

  fileprivate func writePiece(_ side: MessageSide, _ bytes: [UInt8]) throws(StageFailure) {
    guard !bytes.isEmpty else { return }
    try write("a piece of the body") { api, exchange in
      bytes.withUnsafeBytes { api.pointee.body_write(exchange, side.rawValue, sluice_bytes($0)) }
    }
  }
}
