import CTLS

/// Parts of a certificate in DER form, copied from memory that OpenSSL allocates.
package enum EncodedCertificate {
  /// The certificate; nil if there is no memory.
  package static func bytes(_ certificate: OpaquePointer) -> [UInt8]? {
    var bytes: UnsafeMutablePointer<UInt8>?
    return take(i2d_X509(certificate, &bytes), bytes)
  }

  /// The SubjectPublicKeyInfo of the certificate; nil if there is no memory.
  package static func publicKey(_ certificate: OpaquePointer) -> [UInt8]? {
    var bytes: UnsafeMutablePointer<UInt8>?
    return take(i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &bytes), bytes)
  }

  /// The SHA-256 hash of the SubjectPublicKeyInfo; nil if there is no memory.
  package static func publicKeyHash(_ certificate: OpaquePointer) -> [UInt8]? {
    guard let key = publicKey(certificate) else { return nil }
    var hash = [UInt8](repeating: 0, count: 32)
    guard EVP_Digest(key, key.count, &hash, nil, EVP_sha256(), nil) == 1 else { return nil }
    return hash
  }

  /// The X.501 name; nil if there is no memory.
  package static func name(_ name: OpaquePointer) -> [UInt8]? {
    var bytes: UnsafeMutablePointer<UInt8>?
    return take(i2d_X509_NAME(name, &bytes), bytes)
  }

  private static func take(_ count: Int32, _ bytes: UnsafeMutablePointer<UInt8>?) -> [UInt8]? {
    guard count > 0, let bytes else { return nil }
    defer { CRYPTO_free(bytes, #file, #line) }
    return [UInt8](UnsafeBufferPointer(start: bytes, count: Int(count)))
  }
}
