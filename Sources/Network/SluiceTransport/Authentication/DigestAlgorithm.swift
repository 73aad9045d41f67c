import CCrypto
import SluiceMessages

/// A hash of Digest authentication (RFC 7616 §3.3, §6.1).
package struct DigestAlgorithm: Sendable, Hashable {
  private enum Hash: String, Sendable {
    case md5 = "md5"
    case sha256 = "sha-256"
    case sha512t256 = "sha-512-256"
  }

  /// The name as the server spells it.
  package let name: String
  /// Whether the name ends with `-sess`: all requests with the same nonce use one hash of user and password.
  package let isSession: Bool
  private let hash: Hash

  init?(_ name: String) {
    let lowercased = name.lowercased()
    isSession = lowercased.hasSuffix("-sess")
    guard let hash = Hash(rawValue: isSession ? String(lowercased.dropLast(5)) : lowercased) else { return nil }
    self.hash = hash
    self.name = name
  }

  /// The hash in lower-case hexadecimal; nil if libcrypto refuses to compute it. A policy can forbid MD5, for example.
  func hash(_ bytes: [UInt8]) -> String? {
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var length: CUnsignedInt = 0
    let status = bytes.withUnsafeBytes { EVP_Digest($0.baseAddress, $0.count, &digest, &length, function, nil) }
    guard status == 1 else { return nil }
    return digest.prefix(Int(length)).hexadecimal
  }

  private var function: OpaquePointer? {
    switch hash {
    case .md5: EVP_md5()
    case .sha256: EVP_sha256()
    case .sha512t256: EVP_sha512_256()
    }
  }
}
