import SluicePluginFile
import SluicePluginHost
import SluiceUpdateRules

extension ContentHash {
  /// Returns the SHA-256 of bytes in lower-case hex.
  /// - Throws: ``UpdateError/Code/verifier`` if libcrypto refuses.
  static func hex(of bytes: [UInt8]) throws(UpdateError) -> String {
    guard let hash = ContentHash(of: bytes) else { throw Ed25519Verifier.unavailable }
    return hash.hex
  }
}
