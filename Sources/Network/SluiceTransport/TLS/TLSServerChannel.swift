import CTLS

/// The server's side of TLS.
package final class TLSServerChannel: TLSChannel {
  private let context: TLSServerContext

  package init(_ descriptor: Int32, _ context: TLSServerContext) throws(TLSFailure) {
    self.context = context
    try super.init(descriptor, context.pointer)
    SSL_set_accept_state(pointer)
  }

  /// The context of the channel of a connection, for callbacks of OpenSSL.
  static func context(of connection: OpaquePointer) -> TLSServerContext? {
    sluice_tls_owner(connection).map { owner in
      Unmanaged<TLSServerChannel>.fromOpaque(owner)._withUnsafeGuaranteedRef { $0.context }
    }
  }
}
