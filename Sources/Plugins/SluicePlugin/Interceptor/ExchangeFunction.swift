import CSluice

/// What a call can be allowed to do with its exchange, for ``StageRequest/mayCall(_:)``.
public enum ExchangeFunction: UInt32, Sendable, Hashable, CaseIterable {
  /// Set, add, remove and mark headers of the request.
  case writeRequestHeaders = 1
  /// Set the method and the URL.
  case writeRequestLine = 2
  /// Set the body of the request, also from a file.
  case writeRequestBody = 3
  /// Set the status and the headers of the response.
  case writeResponse = 4
  /// Set the body of the response, also from a file.
  case writeResponseBody = 5
  /// ``StageRequest/document(for:body:)`` and ``StageResponse/document(for:body:)``, for reading.
  case readDocument = 6
  /// Put other bytes in the place of a piece of a body.
  case writePiece = 7
  /// ``StageRequest/respond(status:)``.
  case respond = 8
  /// End the call with a ``RetryRequestError``.
  case retry = 9
  /// End the call with another error.
  case fail = 10
  /// Wait in an asynchronous method.
  case suspend = 11
  /// ``StageRequest/lower(_:)``.
  case setLimit = 12
  /// Set attributes of the transaction.
  case setAttribute = 13
  /// Answer a challenge with a user and a password.
  case answerChallenge = 14
}

extension StageRequest {
  /// Whether the host allows these functions in this call at this moment. Asking has no effect; calling a function that
  /// is not allowed is a violation. False after the call, and for a function that the host does not know.
  public func mayCall(_ function: ExchangeFunction) -> Bool { call.mayCall(function) }
}

extension StageResponse {
  /// Like ``StageRequest/mayCall(_:)``.
  public func mayCall(_ function: ExchangeFunction) -> Bool { call.mayCall(function) }
}

extension ExchangeCall {
  fileprivate func mayCall(_ function: ExchangeFunction) -> Bool {
    switch withExchange({ $0.pointee.may_call($1, function.rawValue) }) {
    case sluice_status(SLUICE_STATUS_OK): true
    // The SDK takes one token for a call, no matter how often the method waits.
    case sluice_status(SLUICE_STATUS_ALREADY): function == .suspend
    default: false
    }
  }
}
