import CTLS

/// The server's side of TLS.
package final class TLSServerChannel: TLSChannel {
  private let context: TLSServerContext

  package init(_ descriptor: Int32, _ context: TLSServerContext) throws(TLSFailure) {
    self.context = context
    try super.init(descriptor, context.pointer)
    SSL_set_accept_state(pointer)
  }

  /// The name that the client has asked for in the handshake (RFC 6066 §3); nil if it has named none.
  package var serverName: String? {
    SSL_get_servername(pointer, TLSEXT_NAMETYPE_host_name).map { String(cString: $0) }
  }

  /// The context of the channel of a connection, for callbacks of OpenSSL.
  static func context(of connection: OpaquePointer) -> TLSServerContext? {
    sluice_tls_owner(connection).map { owner in
      Unmanaged<TLSServerChannel>.fromOpaque(owner)._withUnsafeGuaranteedRef { $0.context }
    }
  }
}
