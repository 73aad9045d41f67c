import CCrypto
import SluiceMessages
package import SluicePluginHost

extension ContentHash {
  /// nil if libcrypto refuses, which happens if a policy disables SHA-256.
  package init?(of bytes: [UInt8]) {
    guard let hash = bytes.withUnsafeBytes({ ContentHash(of: $0) }) else { return nil }
    self = hash
  }

  init?(of bytes: UnsafeRawBufferPointer) {
    guard let digest = Self.digest(of: bytes) else { return nil }
    self.init(hex: digest.hexadecimal)
  }

  /// The 32 bytes of the hash; nil if libcrypto refuses.
  package static func digest(of bytes: [UInt8]) -> [UInt8]? { bytes.withUnsafeBytes { digest(of: $0) } }

  private static func digest(of bytes: UnsafeRawBufferPointer) -> [UInt8]? {
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var length: CUnsignedInt = 0
    let status = EVP_Digest(bytes.baseAddress, bytes.count, &digest, &length, EVP_sha256(), nil)
    return status == 1 && length == 32 ? Array(digest.prefix(32)) : nil
  }

  static func unavailable(_ subject: PluginError.Subject) -> PluginError {
    PluginError(.unreadable, subject, "libcrypto offers no SHA-256", advice: "check the policy of OpenSSL")
  }
}
