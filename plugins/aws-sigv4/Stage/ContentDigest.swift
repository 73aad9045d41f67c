import AWSSignatureRules
import CCrypto
import Glibc
import SluiceMessages
import SluicePlugin
import SluiceSupport

/// SHA-256 of libcrypto.
package enum ContentDigest {
  private static let pieceBytes = 65_536

  /// Nil if libcrypto refuses, which happens if a policy disables SHA-256.
  package static func hash(_ bytes: [UInt8]) -> [UInt8]? {
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var length: CUnsignedInt = 0
    let status = EVP_Digest(bytes, bytes.count, &digest, &length, EVP_sha256(), nil)
    return status == 1 && length == 32 ? Array(digest.prefix(32)) : nil
  }

  /// The hash of a body in a file, in hexadecimal. Blocks.
  static func hexadecimal(of file: BodyFile) throws(StageFailure) -> String {
    guard let context = EVP_MD_CTX_new() else { throw Hash.unavailable }
    defer { EVP_MD_CTX_free(context) }
    guard EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else { throw Hash.unavailable }
    guard let descriptor = FileDescriptor(opening: file.path, O_RDONLY) else { throw unreadable(file, errno) }
    var rest = file.byteCount
    var piece = [UInt8](repeating: 0, count: pieceBytes)
    while rest > 0 {
      let count = read(descriptor.raw, &piece, Int(min(rest, UInt64(pieceBytes))))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw unreadable(file, errno) }
      guard count > 0 else {
        throw StageFailure(code: .bodyFile, message: "the file of the body is \(rest) bytes shorter than the body")
      }
      guard EVP_DigestUpdate(context, piece, count) == 1 else { throw Hash.unavailable }
      rest -= UInt64(count)
    }
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var length: CUnsignedInt = 0
    guard EVP_DigestFinal_ex(context, &digest, &length) == 1, length == 32 else { throw Hash.unavailable }
    return digest.prefix(32).hexadecimal
  }

  private static func unreadable(_ file: BodyFile, _ error: CInt) -> StageFailure {
    StageFailure(
      code: .bodyFile, message: "cannot read the body in \(PlainText.path(file.path)): \(SystemError.text(error))")
  }
}
