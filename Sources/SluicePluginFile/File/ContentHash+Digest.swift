import CCrypto
package import SluicePluginImage

extension ContentHash {
  /// nil if libcrypto refuses, which happens if a policy disables SHA-256.
  package init?(of bytes: [UInt8]) {
    guard let digest = Self.digest(of: bytes) else { return nil }
    self.init(hex: Self.hexadecimal(digest))
  }

  /// The 32 bytes of the hash; nil if libcrypto refuses.
  package static func digest(of bytes: [UInt8]) -> [UInt8]? {
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var length: CUnsignedInt = 0
    let status = bytes.withUnsafeBytes { EVP_Digest($0.baseAddress, $0.count, &digest, &length, EVP_sha256(), nil) }
    return status == 1 && length == 32 ? Array(digest.prefix(32)) : nil
  }

  static func unavailable(_ subject: PluginError.Subject) -> PluginError {
    PluginError(.unreadable, subject, "libcrypto offers no SHA-256", advice: "check the policy of OpenSSL")
  }
}
