package import SluiceMessages

/// Checks that a response must pass before its transaction counts as a success, in addition to the checks of the
/// settings.
///
///     status or validate ─ didValidateResponse ─ extract ─ didExtract ─ validatePayload ─ didValidatePayload ─ success
///
/// Each function is called at most once for a transaction, on its loop, with the final response and its body, and must
/// not block. If a function throws, the transaction fails with its error, and the result keeps the response.
package final class ResponseChecks: Sendable {
  /// Checks the response in place of the accepted statuses; throws if it is not a success.
  package typealias Validate = @Sendable (Response) throws(TransactionError) -> Void
  /// Makes the payload of a response; `method` is the method of its request. Returns nil if such a response has no
  /// content by definition, for example after HEAD: this counts as extracted, and no payload is validated.
  package typealias Extract = @Sendable (Response, _ method: String) throws(TransactionError) -> (any Sendable)?
  /// Checks the payload that ``Extract`` made; throws if it is not valid.
  package typealias ValidatePayload = @Sendable (any Sendable) throws(TransactionError) -> Void

  /// Replaces the check of accepted statuses; nil keeps that check.
  let validate: Validate?
  /// Makes the payload; if it is nil, the body is not converted.
  let extract: Extract?
  let validatePayload: ValidatePayload?

  /// A nil function keeps the status check of the settings, does not convert the body, or checks no payload. A payload
  /// that is not extracted is not validated.
  package init(validate: Validate? = nil, extract: Extract? = nil, validatePayload: ValidatePayload? = nil) {
    self.validate = validate
    self.extract = extract
    self.validatePayload = validatePayload
  }
}
