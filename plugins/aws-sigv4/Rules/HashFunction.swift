package import SluiceMessages

/// Computes SHA-256; returns nil if the library refuses. A parameter, so that these rules link no library.
package typealias HashFunction = @Sendable ([UInt8]) -> [UInt8]?

/// Texts and codes that a ``HashFunction`` gives.
package enum Hash {
  /// The hash in lower-case hexadecimal digits.
  package static func hexadecimal(of bytes: [UInt8], _ hash: HashFunction) throws(StageFailure) -> String {
    guard let digest = hash(bytes) else { throw unavailable }
    return digest.hexadecimal
  }

  /// HMAC with SHA-256 (RFC 2104).
  static func code(of text: String, key: [UInt8], _ hash: HashFunction) throws(StageFailure) -> [UInt8] {
    let blockBytes = 64
    guard let short = key.count > blockBytes ? hash(key) : key else { throw unavailable }
    let block = short + [UInt8](repeating: 0, count: blockBytes - short.count)
    guard let inner = hash(block.map { $0 ^ 0x36 } + Array(text.utf8)),
      let outer = hash(block.map { $0 ^ 0x5C } + inner)
    else { throw unavailable }
    return outer
  }

  package static var unavailable: StageFailure {
    StageFailure(message: "libcrypto offers no SHA-256; check the policy of OpenSSL")
  }
}
