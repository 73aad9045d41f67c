import CSluice
import SluicePipeline

/// The actions on an exchange that a call may or may not perform. Their numbers are those of `exchange.h` and of the
/// drafts.
enum ExchangePermission: UInt32, CaseIterable {
  case writeRequestHeaders = 1
  case writeRequestLine
  case writeRequestBody
  case writeResponse
  case writeResponseBody
  case readDocument
  case writePiece
  case respond
  case retry
  case fail
  case suspend
  case setLimit
  /// `SLUICE_CALL_SET_ATTRIBUTE`.
  case setAttribute
  case answerChallenge

  /// The function `may_call`.
  static func answer(_ handle: OpaquePointer?, _ call: sluice_call_kind) -> sluice_status {
    guard let called = CallContext.find(handle) else { return CallContext.misuse }
    guard let permission = ExchangePermission(rawValue: call) else { return Status.unsupported }
    return called.status(of: permission)
  }
}

extension CalledExchange {
  /// Returns OK if the action is allowed, otherwise the status with which the functions for this action refuse it.
  func status(of permission: ExchangePermission) -> sluice_status {
    guard isOffered(permission) else { return Status.unsupported }
    guard isAllowed(permission) else { return Status.refused }
    guard permission == .suspend else { return Status.ok }
    if call.pointee.token != nil { return Status.already }
    return call.pointee.offeredToken == nil && exchange.suspensions?.isFull == true ? Status.limit : Status.ok
  }

  private func isOffered(_ permission: ExchangePermission) -> Bool {
    switch permission {
    case .writeRequestHeaders, .writeResponse, .fail, .setLimit, .setAttribute: true
    case .writeRequestLine: offers(.rewrite)
    case .writeRequestBody: offers(.body(of: 0))
    case .writeResponseBody: offers(.body(of: 1))
    case .readDocument: offers(.document)
    case .writePiece: offers(.streamedBody)
    case .respond: mayRespond
    case .retry: offers(.retry)
    case .suspend: offers(.suspend)
    case .answerChallenge: call.pointee.instance.runtime.credentials != nil
    }
  }

  func isAllowed(_ permission: ExchangePermission) -> Bool {
    switch permission {
    case .writeRequestHeaders: phase.writesRequestHeaders
    case .writeRequestLine, .writeRequestBody: phase.writesRequest
    case .writeResponse, .writeResponseBody: writesResponse
    case .readDocument: phase != .issue
    case .writePiece: phase == .requestPiece || phase == .responsePiece
    case .respond, .retry: phase.responds
    case .fail: phase.fails
    case .suspend: phase.suspends && !call.pointee.isBlocking && !call.pointee.isTrailer
    case .setLimit: phase == .request
    case .setAttribute: phase != .event
    case .answerChallenge: phase == .challenge
    }
  }
}
