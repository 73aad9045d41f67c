import CSluice

/// A limit that a request interceptor can lower for its transaction.
public enum ExchangeLimit: Sendable, Hashable {
  /// The time from now to the end of the transaction.
  case timeout(Duration)
  /// The time for each attempt on the wire.
  case attemptTimeout(Duration)
  /// The size of the response body in bytes; a longer body fails with `response_too_large`.
  case responseBytes(Int)
  /// The number of attempts, including the first.
  case attempts(Int)

  fileprivate var numbers: (limit: sluice_limit, value: UInt64) {
    switch self {
    case .timeout(let time): (sluice_limit(SLUICE_LIMIT_TIMEOUT_NS), time.nanoseconds)
    case .attemptTimeout(let time): (sluice_limit(SLUICE_LIMIT_ATTEMPT_TIMEOUT_NS), time.nanoseconds)
    case .responseBytes(let count): (sluice_limit(SLUICE_LIMIT_RESPONSE_BYTES), UInt64(clamping: count))
    case .attempts(let count): (sluice_limit(SLUICE_LIMIT_ATTEMPTS), UInt64(clamping: count))
    }
  }
}

extension StageRequest {
  /// Lowers a limit of the transaction; a value above the current limit has no effect. Only in request interceptors.
  public func lower(_ limit: ExchangeLimit) throws(StageFailure) {
    let (number, value) = limit.numbers
    try call.write("the limit \(limit)") { $0.pointee.limit_set($1, number, value) }
  }

  /// Makes a file the body. The file is read when the request is sent: do not change it until the transaction has
  /// ended.
  /// - Parameters:
  ///   - path: the absolute path of a regular file.
  ///   - isRemoved: whether the host removes the file when no message refers to it any more.
  public func setBodyFile(_ path: String, isRemoved: Bool = false) throws(StageFailure) {
    try call.setBodyFile(.request, path, isRemoved: isRemoved)
  }
}

extension StageResponse {
  /// Makes a file the body; as with ``StageRequest/setBodyFile(_:isRemoved:)``.
  public func setBodyFile(_ path: String, isRemoved: Bool = false) throws(StageFailure) {
    try call.setBodyFile(.response, path, isRemoved: isRemoved)
  }
}

extension ExchangeCall {
  fileprivate func setBodyFile(_ side: MessageSide, _ path: String, isRemoved: Bool) throws(StageFailure) {
    let flags = isRemoved ? UInt32(SLUICE_FILE_REMOVE) : 0
    try write("the body's file \(path)") { api, exchange in
      withText(path) { api.pointee.body_set_file(exchange, side.rawValue, $0, flags) }
    }
  }
}
