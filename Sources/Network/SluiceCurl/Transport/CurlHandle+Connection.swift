import CCurl
import SluiceMessages
import SluicePipeline
import SluiceTransport

extension CurlHandle {
  /// What libcurl knows about the transfer's connection. Must be called in the transfer's pre-request callback, because
  /// libcurl does not return the TLS session later.
  /// - Parameter id: the connection's id, if it is known.
  func connectionFacts(id: UInt64?, isSecure: Bool) -> ConnectionFacts {
    var facts = ConnectionFacts()
    facts.id = id
    facts.isReused = sluice_easy_get_long(easy, CURLINFO_NUM_CONNECTS) == 0
    // For a Unix socket, libcurl reports the path of its file as the address.
    if settings.unixSocket == nil {
      facts.peer = address(CURLINFO_PRIMARY_IP, CURLINFO_PRIMARY_PORT)
      facts.local = address(CURLINFO_LOCAL_IP, CURLINFO_LOCAL_PORT)
    }
    facts.isSecure = isSecure
    if isSecure, let session = sluice_easy_get_openssl(easy) {
      facts.security = ConnectionFacts.Security(of: OpaquePointer(session))
    }
    return facts
  }

  private func address(_ host: CURLINFO, _ port: CURLINFO) -> ConnectionFacts.Address? {
    guard let text = sluice_easy_get_text(easy, host), text.pointee != 0 else { return nil }
    return ConnectionFacts.Address(host: String(cString: text), port: sluice_easy_get_long(easy, port))
  }
}
