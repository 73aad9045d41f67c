import CSluice

/// Holds an instance's data for a transaction; the host keeps the pointer to it.
private final class KeptData: Sendable {
  /// The plugin's data.
  let value: (any Sendable)?
  /// The SDK's own data.
  let bodies: BodyTransforms?

  init(_ value: (any Sendable)?, _ bodies: BodyTransforms?) {
    self.value = value
    self.bodies = bodies
  }
}

extension ExchangeCall {
  /// The data that ``setData(_:)`` has set; nil if there is none, and outside of the call.
  final var data: (any Sendable)? {
    kept?.value
  }

  private var kept: KeptData? {
    withExchange { api, exchange in
      api.pointee.data_get(exchange).map { Unmanaged<KeptData>.fromOpaque($0).takeUnretainedValue() }
    } ?? nil
  }

  /// The transforms of the bodies of this transaction; nil outside of the call.
  final func bodyTransforms() throws(StageFailure) -> BodyTransforms? {
    let kept = kept
    if let bodies = kept?.bodies { return bodies }
    let bodies = BodyTransforms()
    return try keep(KeptData(kept?.value, bodies)) ? bodies : nil
  }

  /// The host releases the data once, at the end of the transaction or when the data is replaced.
  final func setData(_ value: (any Sendable)?) throws(StageFailure) {
    let bodies = kept?.bodies
    try keep(value == nil && bodies == nil ? nil : KeptData(value, bodies))
  }

  @discardableResult
  private func keep(_ data: KeptData?) throws(StageFailure) -> Bool {
    try write("the transaction's data") { api, exchange in
      guard let data else { return api.pointee.data_set(exchange, nil, nil) }
      let kept = Unmanaged.passRetained(data)
      let status = api.pointee.data_set(exchange, kept.toOpaque(), { release($0) })
      if status != 0 { kept.release() }
      return status
    }
  }
}

private func release(_ pointer: UnsafeMutableRawPointer?) {
  guard let pointer else { return }
  Unmanaged<KeptData>.fromOpaque(pointer).release()
}
