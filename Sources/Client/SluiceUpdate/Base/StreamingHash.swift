import CCrypto
import SluiceMessages

/// Computes the SHA-256 of bytes that arrive in pieces.
final class StreamingHash {
  private let context: OpaquePointer

  /// Returns nil if libcrypto refuses to begin a hash.
  init?() {
    guard let context = EVP_MD_CTX_new() else { return nil }
    self.context = context
    guard EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else { return nil }
  }

  deinit { EVP_MD_CTX_free(context) }

  func add(_ bytes: [UInt8]) { _ = EVP_DigestUpdate(context, bytes, bytes.count) }

  /// Returns the hash in lower-case hex. Call it only once.
  func finish() -> String {
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var length: CUnsignedInt = 0
    guard EVP_DigestFinal_ex(context, &digest, &length) == 1 else { return "" }
    return digest.prefix(Int(length)).hexadecimal
  }
}
