import CCrypto

/// The SHA-256 of a library's bytes. It identifies the build, independent of path, inode or age.
public struct ContentHash: Hashable, Sendable, CustomStringConvertible {
  /// 64 lower-case hex digits.
  public let hex: String

  /// nil if libcrypto refuses, which happens if a policy disables SHA-256.
  package init?(of bytes: [UInt8]) {
    guard let digest = Self.digest(of: bytes) else { return nil }
    hex = Self.hexadecimal(digest)
  }

  /// The 32 bytes of the hash; nil if libcrypto refuses.
  package static func digest(of bytes: [UInt8]) -> [UInt8]? {
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var length: CUnsignedInt = 0
    let status = bytes.withUnsafeBytes { EVP_Digest($0.baseAddress, $0.count, &digest, &length, EVP_sha256(), nil) }
    return status == 1 && length == 32 ? Array(digest.prefix(32)) : nil
  }

  /// Reads a hash; nil if the text is not 64 hex digits, in lower or upper case.
  package init?(hex text: String) {
    let digits = text.lowercased()
    guard digits.utf8.count == 64, digits.allSatisfy({ $0.isASCII && $0.isHexDigit }) else { return nil }
    hex = digits
  }

  /// The same as ``hex``.
  public var description: String { hex }

  static func unavailable(_ subject: PluginError.Subject) -> PluginError {
    PluginError(.unreadable, subject, "libcrypto offers no SHA-256", advice: "check the policy of OpenSSL")
  }

  package static func hexadecimal(_ bytes: some Collection<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    let characters = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    return String(decoding: characters, as: UTF8.self)
  }
}
