import SluiceJSON
public import SluiceMessages
package import SluicePipeline
public import SluiceTraceContext

/// A request with the checks of its response, and the type that the response is decoded to.
///
///     let item = try await engine.perform(
///       TypedTransaction(request).decoding(Item.self).validatingPayload { item in … })
///
/// The pipeline runs these steps: tracers get an event for each step that has succeeded. If a step fails, the
/// transaction fails, and its result keeps the response. The steps replace `validate` of the configuration, with one
/// exception: if no validation of the response was added, the accepted statuses of the configuration apply.
///
/// The closures run on the event loop of the transaction and must not block. An error of type ``StageFailure`` keeps its
/// code; any other error gives the code `response`, `extraction` or `payload`, depending on the step.
public struct TypedTransaction<Payload: Sendable>: Sendable {
  /// The request as the caller gives it; stages change a copy.
  public var request: Request
  /// The trace context of the caller; nil means the context of the task that sends the request.
  public var parent: ParentContext?
  private var validations: [@Sendable (Response) throws -> Void] = []
  private let extract: @Sendable (Response) throws -> Payload
  private var payloadValidations: [@Sendable (Payload) throws -> Void] = []

  private init(
    _ request: Request, _ parent: ParentContext?, _ extract: @escaping @Sendable (Response) throws -> Payload
  ) {
    self.request = request
    self.parent = parent
    self.extract = extract
  }

  /// Adds a validation of the response. Validations run in the order in which they were added, and all must pass. They
  /// replace the check of the accepted statuses.
  public func validating(_ validate: @escaping @Sendable (Response) throws -> Void) -> TypedTransaction {
    var transaction = self
    transaction.validations.append(validate)
    return transaction
  }

  /// Sets how the payload is made. Payload validations that were added before are dropped.
  public func extracting<Other>(
    _ extract: @escaping @Sendable (Response) throws -> Other
  ) -> TypedTransaction<Other> {
    var transaction = TypedTransaction<Other>(request, parent, extract)
    transaction.validations = validations
    return transaction
  }

  /// Decodes the body, which must be JSON, to the type.
  public func decoding<Value: Decodable & Sendable>(_ type: Value.Type = Value.self) -> TypedTransaction<Value> {
    extracting { try $0.json().decode(type) }
  }

  /// Adds a validation of the payload. Validations run in the order in which they were added, and all must pass.
  public func validatingPayload(_ validate: @escaping @Sendable (Payload) throws -> Void) -> TypedTransaction {
    var transaction = self
    transaction.payloadValidations.append(validate)
    return transaction
  }
}

extension TypedTransaction where Payload == Response {
  /// The payload is the response itself, until another form is set.
  public init(_ request: Request, parent: ParentContext? = nil) {
    self.init(request, parent) { $0 }
  }
}

// The transaction in the form that the pipeline uses.
extension TypedTransaction {
  /// - Parameter keep: called with the payload when it is made.
  package func checks(keep: @escaping @Sendable (Payload) -> Void) -> ResponseChecks {
    let validate: ResponseChecks.Validate = { response throws(TransactionError) in try self.validate(response) }
    return ResponseChecks(
      validate: validations.isEmpty ? nil : validate,
      extract: { response, _ throws(TransactionError) in
        let payload = try self.payload(of: response)
        keep(payload)
        return payload
      },
      validatePayload: { payload throws(TransactionError) in try self.validatePayload(payload) })
  }

  private func validate(_ response: Response) throws(TransactionError) {
    do { for validate in validations { try validate(response) } } catch {
      throw Self.named(error, .response)
    }
  }

  private func payload(of response: Response) throws(TransactionError) -> Payload {
    do { return try extract(response) } catch { throw Self.named(error, .extraction) }
  }

  private func validatePayload(_ payload: any Sendable) throws(TransactionError) {
    guard let payload = payload as? Payload else { return }
    do { for validate in payloadValidations { try validate(payload) } } catch {
      throw Self.named(error, .payload)
    }
  }

  private static func named(_ error: any Error, _ code: ErrorCode) -> TransactionError {
    switch error {
    case let error as TransactionError: error
    case let failure as StageFailure: TransactionError(code: failure.code, message: failure.message)
    default: TransactionError(code: code, message: "\(error)")
    }
  }
}
