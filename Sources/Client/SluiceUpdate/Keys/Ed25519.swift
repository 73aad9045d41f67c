import CCrypto
import SluiceMessages
import SluicePluginFile
import SluicePluginHost
package import SluiceUpdateRules

/// Verifies Ed25519 signatures (RFC 8032) with libcrypto.
package struct Ed25519Verifier: SignatureVerifier {
  /// Tests libcrypto first, with a signature that is known to be valid and with a wrong one.
  /// - Throws: ``UpdateError/Code/verifier`` if the library lacks Ed25519 or SHA-256, or accepts the wrong signature.
  package init() throws(UpdateError) {
    guard try isValid(KnownSignature.signature, of: KnownSignature.message, by: KnownSignature.publicKey),
      try !isValid(KnownSignature.signature, of: KnownSignature.message + [0], by: KnownSignature.publicKey),
      ContentHash.digest(of: []) != nil
    else { throw Self.unavailable }
  }

  package func isValid(
    _ signature: [UInt8], of message: [UInt8], by publicKey: [UInt8]
  ) throws(UpdateError) -> Bool {
    guard let key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, publicKey, publicKey.count),
      let context = EVP_MD_CTX_new()
    else { throw Self.unavailable }
    defer {
      EVP_MD_CTX_free(context)
      EVP_PKEY_free(key)
    }
    guard EVP_DigestVerifyInit(context, nil, nil, nil, key) == 1 else { throw Self.unavailable }
    return EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
  }

  static let unavailable = UpdateError(
    .verifier, "libcrypto", "it cannot check signatures of Ed25519", advice: "check the policy of OpenSSL")
}

/// The second test vector of RFC 8032 §7.1.
private enum KnownSignature {
  static let publicKey: [UInt8] = [
    0x3D, 0x40, 0x17, 0xC3, 0xE8, 0x43, 0x89, 0x5A, 0x92, 0xB7, 0x0A, 0xA7, 0x4D, 0x1B, 0x7E, 0xBC, 0x9C, 0x98, 0x2C,
    0xCF, 0x2E, 0xC4, 0x96, 0x8C, 0xC0, 0xCD, 0x55, 0xF1, 0x2A, 0xF4, 0x66, 0x0C,
  ]
  static let message: [UInt8] = [0x72]
  static let signature: [UInt8] = [
    0x92, 0xA0, 0x09, 0xA9, 0xF0, 0xD4, 0xCA, 0xB8, 0x72, 0x0E, 0x82, 0x0B, 0x5F, 0x64, 0x25, 0x40, 0xA2, 0xB2, 0x7B,
    0x54, 0x16, 0x50, 0x3F, 0x8F, 0xB3, 0x76, 0x22, 0x23, 0xEB, 0xDB, 0x69, 0xDA, 0x08, 0x5A, 0xC1, 0xE4, 0x3E, 0x15,
    0x99, 0x6E, 0x45, 0x8F, 0x36, 0x13, 0xD0, 0xF1, 0x1D, 0x8C, 0x38, 0x7B, 0x2E, 0xAE, 0xB4, 0x30, 0x2A, 0xEE, 0xB0,
    0x0D, 0x29, 0x16, 0x12, 0xBB, 0x0C, 0x00,
  ]
}

extension KeyID {
  /// The id of a public key.
  package init(of publicKey: [UInt8]) throws(UpdateError) {
    guard let digest = ContentHash.digest(of: publicKey), let id = KeyID(hex: digest.hexadecimal) else {
      throw Ed25519Verifier.unavailable
    }
    self = id
  }
}
