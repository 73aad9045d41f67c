public import SluiceMessages

/// What is asked of a response before its transaction counts as a success, beyond what the settings say.
///
///     status or validate ─ didValidateResponse ─ extract ─ didExtract ─ validatePayload ─ didValidatePayload ─ success
///
/// Each function is called at most once for a transaction, on its loop, with the final response and its body, and must not
/// block. What one throws is the error of the transaction, whose result keeps the response.
public final class ResponseChecks: Sendable {
  /// Checks the response in place of the accepted statuses; throws if it is not a success.
  public typealias Validate = @Sendable (Response) throws(TransactionError) -> Void
  /// Makes the payload of the response to a request of that method; nil if the response has no content by definition,
  /// which counts as extracted and is not validated.
  public typealias Extract = @Sendable (Response, _ method: String) throws(TransactionError) -> (any Sendable)?
  /// Checks the payload that ``Extract`` made; throws if it is not valid.
  public typealias ValidatePayload = @Sendable (any Sendable) throws(TransactionError) -> Void

  /// In place of the accepted statuses; nil leaves it to them.
  let validate: Validate?
  /// Nil takes the body as it is.
  let extract: Extract?
  let validatePayload: ValidatePayload?

  /// Nil leaves the status to the settings, takes the body as it is, or checks no payload. A payload that is not
  /// extracted is not validated.
  public init(validate: Validate? = nil, extract: Extract? = nil, validatePayload: ValidatePayload? = nil) {
    self.validate = validate
    self.extract = extract
    self.validatePayload = validatePayload
  }
}
