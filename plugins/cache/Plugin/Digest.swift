import CCrypto
import SluiceMessages

/// A SHA-256 digest, which names an entry on disk, shows whether the entry is complete, or stands for a secret that
/// must not be stored.
struct Digest: Hashable, Sendable {
  static let byteCount = 32

  let bytes: [UInt8]

  /// Reads a digest from a file.
  init(stored bytes: [UInt8]) { self.bytes = bytes }

  init(of pieces: [UInt8]...) {
    bytes = Self.compute(pieces) ?? []
  }

  init(of text: String) {
    self.init(of: Array(text.utf8))
  }

  /// Whether libcrypto can compute SHA-256: it cannot if memory runs out or if its policy disables SHA-256.
  static var isAvailable: Bool { compute([]) != nil }

  /// 64 lower-case hex digits.
  var hex: String { bytes.hexadecimal }

  private static func compute(_ pieces: [[UInt8]]) -> [UInt8]? {
    guard let context = EVP_MD_CTX_new() else { return nil }
    defer { EVP_MD_CTX_free(context) }
    guard EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else { return nil }
    for piece in pieces where !piece.isEmpty {
      guard piece.withUnsafeBytes({ EVP_DigestUpdate(context, $0.baseAddress, $0.count) }) == 1 else { return nil }
    }
    var digest = [UInt8](repeating: 0, count: byteCount)
    var length = CUnsignedInt(byteCount)
    return EVP_DigestFinal_ex(context, &digest, &length) == 1 && length == byteCount ? digest : nil
  }
}
