import CCurl
import CTLS
import Glibc
import SluiceMessages
import SluicePipeline

extension CurlHandle {
  /// What libcurl knows about the transfer's connection. Call it in the transfer's pre-request callback: later, libcurl
  /// does not give the TLS session any more.
  /// - Parameter id: the connection's id, if it is known.
  func connectionFacts(id: UInt64?, isSecure: Bool) -> ConnectionFacts {
    var facts = ConnectionFacts()
    facts.id = id
    facts.isReused = sluice_easy_get_long(easy, CURLINFO_NUM_CONNECTS) == 0
    facts.peer = address(CURLINFO_PRIMARY_IP, CURLINFO_PRIMARY_PORT)
    facts.local = address(CURLINFO_LOCAL_IP, CURLINFO_LOCAL_PORT)
    facts.isSecure = isSecure
    if isSecure, let session = sluice_easy_get_openssl(easy) {
      facts.security = Self.security(of: OpaquePointer(session))
    }
    return facts
  }

  private func address(_ host: CURLINFO, _ port: CURLINFO) -> ConnectionFacts.Address? {
    guard let text = sluice_easy_get_text(easy, host), text.pointee != 0 else { return nil }
    return ConnectionFacts.Address(host: String(cString: text), port: sluice_easy_get_long(easy, port))
  }

  private static func security(of session: OpaquePointer) -> ConnectionFacts.Security? {
    guard let version = SSL_get_version(session), let cipher = SSL_get_current_cipher(session),
      let name = SSL_CIPHER_get_name(cipher)
    else { return nil }
    return ConnectionFacts.Security(
      version: String(cString: version), cipher: String(cString: name), certificate: certificate(of: session))
  }

  private static func certificate(of session: OpaquePointer) -> [UInt8] {
    guard let certificate = SSL_get1_peer_certificate(session) else { return [] }
    defer { X509_free(certificate) }
    var bytes: UnsafeMutablePointer<UInt8>?
    let count = i2d_X509(certificate, &bytes)
    guard count > 0, let bytes else { return [] }
    defer { CRYPTO_free(bytes, #file, #line) }
    return [UInt8](UnsafeBufferPointer(start: bytes, count: Int(count)))
  }
}
