import Glibc
import SluiceMessages
import SluiceSupport
import SluiceUpdate
import SluiceUpdateRules

/// A signer that is a program, for keys in hardware or on another machine. The program gets the bytes to sign on its
/// standard input, and writes an Ed25519 signature to its standard output, as 64 bytes or as their Base64.
struct SigningCommand: DocumentSigner {
  /// The limit is long because a person may have to touch a token or type a PIN.
  private static let limit = Duration.seconds(300)

  private let command: String

  init(_ command: String) { self.command = command }

  func sign(_ message: [UInt8], for keys: [KeyID: [UInt8]]) throws(UpdateError) -> SignedDocument.Signature {
    let output = try run(message)
    let text = Array(String(decoding: output, as: UTF8.self).split(whereSeparator: \.isWhitespace).joined().utf8)
    let candidates = [output, Base64.decode(text) ?? []].filter { $0.count == 64 }
    let verifier = try Ed25519Verifier()
    for signature in candidates {
      for (id, key) in keys where try verifier.isValid(signature, of: message, by: key) {
        return SignedDocument.Signature(key: id, bytes: signature)
      }
    }
    throw UpdateError(
      .usage, "--sign-with \(PlainText.quote(command))",
      candidates.isEmpty
        ? "it wrote \(output.count) bytes, expected a signature of 64 bytes, or its Base64"
        : "its signature is not valid for any key of the role")
  }

  private func run(_ message: [UInt8]) throws(UpdateError) -> [UInt8] {
    let path = "\(TemporaryFiles.folder)/sluice-sign-\(TemporaryFiles.randomName)"
    guard let input = FileDescriptor(opening: path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600) else {
      throw DurableFile.failure(path, "cannot be written")
    }
    unlink(path)
    guard input.writeAll(message), lseek(input.raw, 0, SEEK_SET) == 0 else {
      throw DurableFile.failure(path, "cannot be written")
    }
    guard let result = ToolProcess(["sh", "-c", command]).bytes(from: input.raw, within: Self.limit) else {
      throw UpdateError(
        .usage, "--sign-with \(PlainText.quote(command))",
        "it cannot be started, or did not end within \(Self.limit.components.seconds) s")
    }
    guard result.status == 0 else {
      throw UpdateError(.usage, "--sign-with \(PlainText.quote(command))", "it ended with status \(result.status)")
    }
    return result.bytes
  }
}
