import CSluice

/// Holds an instance's data for a transaction, behind the one pointer that the host keeps.
private final class KeptData: Sendable {
  let value: any Sendable

  init(_ value: any Sendable) { self.value = value }
}

extension ExchangeCall {
  /// The data of ``setData(_:)``; nil without any, or outside of the call.
  final var data: (any Sendable)? {
    withExchange { api, exchange in
      api.pointee.data_get(exchange).map { Unmanaged<KeptData>.fromOpaque($0).takeUnretainedValue().value }
    } ?? nil
  }

  /// The host releases it once, at the end of the transaction or when it is replaced.
  final func setData(_ value: (any Sendable)?) throws(PluginFailure) {
    try write("the transaction's data") { api, exchange in
      guard let value else { return api.pointee.data_set(exchange, nil, nil) }
      let kept = Unmanaged.passRetained(KeptData(value))
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
