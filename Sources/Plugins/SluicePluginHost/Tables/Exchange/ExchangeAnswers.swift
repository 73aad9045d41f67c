import CSluice
import SluiceMessages
import SluicePipeline

/// The functions for a stage's data and answers: data, respond, fail, retry, suspend.
enum ExchangeAnswers {
  static func setData(
    _ handle: OpaquePointer?, _ data: UnsafeMutableRawPointer?, _ release: InstanceRecord.Release?
  ) -> sluice_status {
    guard let called = CallContext.find(handle) else { return CallContext.misuse }
    called.record.setData(data, release)
    return Status.ok
  }

  static func getData(_ handle: OpaquePointer?) -> UnsafeMutableRawPointer? {
    guard let called = CallContext.find(handle) else { return nil }
    return called.call.pointee.instance.existingRecord(called.exchange)?.data
  }

  static func respond(_ handle: OpaquePointer?, _ status: UInt32) -> sluice_verdict {
    guard let called = CallContext.find(handle) else { return VerdictNumber.fail }
    guard called.phase.responds else {
      return failed(called, called.refuse(.refusedWrite, "respond"), "respond is not allowed in this call")
    }
    guard called.mayRespond else {
      return failed(called, called.lacks(.respond, "respond"), "this host does not offer respond")
    }
    guard (200...999).contains(status) else {
      return failed(
        called, called.refuse(.invalidArgument, "respond: \(status)"), "it responded with the status \(status)")
    }
    called.dropResponseView()
    keepResponse(of: called)
    called.exchange.responseForms.native = Response(status: Int(status))
    called.exchange.hasOwnResponseBody = true
    called.call.pointee.hasResponded = true
    return VerdictNumber.respond
  }

  /// Keeps the response's lent texts, which the plugin may read until the call returns.
  private static func keepResponse(of called: CalledExchange) {
    guard let response = called.exchange.responseForms.native else { return }
    called.keepLentFields(1)
    called.keep(response.body)
  }

  static func fail(_ handle: OpaquePointer?, _ code: sluice_text, _ message: sluice_text) -> sluice_verdict {
    guard let called = CallContext.find(handle) else { return VerdictNumber.fail }
    guard called.phase.fails else {
      _ = called.refuse(.refusedWrite, "fail")
      return VerdictNumber.fail
    }
    let word = self.code(code)
    if word == nil { _ = called.refuse(.invalidArgument, codeRule) }
    set(StageFailure(code: word ?? StageFailure.defaultCode, message: PluginText.message(message)), called)
    return VerdictNumber.fail
  }

  static let codeRule = "fail: a code has 1 to \(PluginText.codeBytes) characters of a–z, 0–9 and _"

  /// The code of a failure; nil if it is malformed.
  static func code(_ text: sluice_text) -> ErrorCode? {
    guard let bytes = text.bytes, (1...PluginText.codeBytes).contains(bytes.count), bytes.allSatisfy(\.isCodeByte)
    else { return nil }
    return ErrorCode(rawValue: String(decoding: bytes, as: UTF8.self))
  }

  static func retry(_ handle: OpaquePointer?, _ delay: UInt64) -> sluice_verdict {
    guard let called = CallContext.find(handle) else { return VerdictNumber.fail }
    guard called.phase.responds else {
      return failed(called, called.refuse(.refusedWrite, "retry"), "retry is not allowed in this call")
    }
    guard called.offers(.retry) else {
      return failed(called, called.lacks(.retry, "retry"), "this host does not offer retry")
    }
    called.record.retryDelay = .nanoseconds(Int64(clamping: delay))
    called.call.pointee.hasDetails = true
    return VerdictNumber.retry
  }

  static func answerChallenge(
    _ handle: OpaquePointer?, _ user: sluice_text, _ password: sluice_text
  ) -> sluice_verdict {
    guard let called = CallContext.find(handle) else { return VerdictNumber.fail }
    guard called.phase == .challenge else {
      return failed(
        called, called.refuse(.refusedWrite, "challenge_answer"), "challenge_answer is not allowed in this call")
    }
    guard let user = user.bytes, let password = password.bytes else {
      return failed(
        called, called.refuse(.invalidArgument, "challenge_answer"), "it gave a text without bytes as its credentials")
    }
    let exchange = called.exchange
    guard let offer = called.record.offer,
      let value = called.call.pointee.instance.runtime.credentials?(Array(user), Array(password), offer, exchange)
    else { return VerdictNumber.proceed }
    return offer.credentialsHeader.withText { name in
      value.withText { _ = ExchangeHeaders.set(handle, sluice_side(SLUICE_SIDE_REQUEST), name, $0) }
      _ = ExchangeHeaders.mark(handle, sluice_side(SLUICE_SIDE_REQUEST), name, UInt32(SLUICE_HEADER_SENSITIVE))
      return VerdictNumber.respond
    }
  }

  static func suspend(_ handle: OpaquePointer?, _ token: UnsafeMutablePointer<sluice_token>?) -> sluice_status {
    guard let called = CallContext.find(handle) else { return CallContext.misuse }
    guard let token else { return called.refuse(.invalidArgument, "suspend") }
    let status = called.status(of: .suspend)
    if status == Status.refused { return called.refuse(.refusedWrite, "suspend") }
    if status == Status.unsupported { return called.lacks(.suspend, "suspend") }
    guard status == Status.ok else { return status }
    guard let taken = called.call.pointee.offeredToken ?? called.exchange.suspend() else { return Status.already }
    called.call.pointee.token = taken
    called.record.suspended(with: taken, in: called.phase, at: called.call.stage)
    token.pointee = sluice_token(taken)
    return Status.ok
  }

  private static func failed(_ called: CalledExchange, _: sluice_status, _ message: String) -> sluice_verdict {
    if called.phase.fails { set(StageFailure(code: StageFailure.defaultCode, message: message), called) }
    return VerdictNumber.fail
  }

  private static func set(_ failure: StageFailure, _ called: CalledExchange) {
    called.record.failure = failure
    called.call.pointee.hasDetails = true
  }
}

extension CalledExchange {
  var record: InstanceRecord { call.pointee.instance.record(exchange) }

  /// Whether the host lets the call set a response. A response call may always replace the received response, even if
  /// the host does not offer `respond`.
  var mayRespond: Bool { phase == .response || offers(.respond) }
}

extension UInt8 {
  fileprivate var isCodeByte: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): true
    default: false
    }
  }
}
