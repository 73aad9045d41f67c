import SluiceMessages

// The checks that a response must pass. Each event is reported when its step has succeeded. After the last step nothing
// can fail.
extension Transaction {
  func validate() -> TransactionMachine.Action {
    do throws(TransactionError) {
      try settleResponse()
      try validateResponse()
      emit(.didValidateResponse)
      if checks != nil { try validatePayload() } else { emit(.didExtract) }
      emit(.didValidatePayload)
      return machine.performed()
    } catch { return machine.handle(.abort(error)) }
  }

  @inline(never)
  private func validatePayload() throws(TransactionError) {
    let payload = try extractPayload()
    emit(.didExtract)
    if let payload { try checks?.validatePayload?(payload) }
  }

  /// Nil if the body is not extracted, or there is no body.
  private func extractPayload() throws(TransactionError) -> (any Sendable)? {
    guard let extract = checks?.extract else { return nil }
    guard let response = responseForms.native else { return nil }
    return try extract(response, requestForms.native.method)
  }

  private func validateResponse() throws(TransactionError) {
    if let validate = checks?.validate, let response = responseForms.native { return try validate(response) }
    let status = responseStatus
    guard status == 0 || pipeline.settings.acceptedStatuses.contains(status) else { throw statusError }
  }
}
