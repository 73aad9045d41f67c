import CSluice
import SluicePipeline

/// The function `limit_set`.
enum ExchangeLimit {
  static func set(_ handle: OpaquePointer?, _ limit: sluice_limit, _ value: UInt64) -> sluice_status {
    guard let called = CallContext.find(handle) else { return CallContext.misuse }
    guard called.phase == .request else { return called.refuse(.refusedWrite, "limit_set") }
    guard value > 0 else { return called.refuse(.invalidArgument, "limit_set: the value of limit \(limit) is 0") }
    let exchange = called.exchange
    switch Int(limit) {
    case Int(SLUICE_LIMIT_TIMEOUT_NS): exchange.lowerTimeout(to: value)
    case Int(SLUICE_LIMIT_ATTEMPT_TIMEOUT_NS): exchange.lowerLimits { $0.attemptNanoseconds = value }
    case Int(SLUICE_LIMIT_RESPONSE_BYTES): exchange.lowerLimits { $0.responseBytes = Int(clamping: value) }
    case Int(SLUICE_LIMIT_ATTEMPTS): exchange.lowerLimits { $0.attempts = Int(clamping: value) }
    default: return called.refuse(.invalidArgument, "limit_set: limit \(limit)")
    }
    return Status.ok
  }
}
