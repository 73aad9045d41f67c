/// A document of a repository in its published form: the exact bytes of the payload, and signatures over these bytes
/// (the envelope of DSSE, version 1).
package struct SignedDocument: Sendable, Hashable {
  package struct Signature: Sendable, Hashable {
    package let key: KeyID
    /// 64 bytes of Ed25519 (RFC 8032).
    package let bytes: [UInt8]

    package init(key: KeyID, bytes: [UInt8]) {
      self.key = key
      self.bytes = bytes
    }
  }

  package let payloadType: String
  package let payload: [UInt8]
  package var signatures: [Signature]

  package init(payloadType: String, payload: [UInt8], signatures: [Signature] = []) {
    self.payloadType = payloadType
    self.payload = payload
    self.signatures = signatures
  }

  /// The bytes that a signature covers: the pre-authentication encoding (PAE) of DSSE.
  package var signedBytes: [UInt8] {
    Array("DSSEv1 \(payloadType.utf8.count) \(payloadType) \(payload.count) ".utf8) + payload
  }
}

/// The SHA-256 of a public key, which names the key. The id is computed and never taken from a document, so that one
/// key cannot have two names.
package struct KeyID: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// 64 lower-case hex digits.
  package let hex: String

  /// Reads an id; nil if the text is not 64 hex digits in lower case.
  package init?(hex: String) {
    guard hex.utf8.count == 64,
      hex.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
    else { return nil }
    self.hex = hex
  }

  /// The first digits, for messages.
  package var description: String { String(hex.prefix(12)) }

  package static func < (left: Self, right: Self) -> Bool { left.hex < right.hex }
}

/// The function that the update rules need from a crypto library.
package protocol SignatureVerifier: Sendable {
  /// Whether a signature (Ed25519, RFC 8032) of the message is valid and was made with the key.
  /// - Throws: ``UpdateError/Code/verifier`` if the library cannot check it.
  func isValid(_ signature: [UInt8], of message: [UInt8], by publicKey: [UInt8]) throws(UpdateError) -> Bool
}
