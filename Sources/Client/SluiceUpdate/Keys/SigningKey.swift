import CCrypto
import Glibc
import SluicePluginFile
import SluiceSupport
package import SluiceUpdateRules

/// Signs documents, with a private key of its own or with the help of a program that has the key.
package protocol DocumentSigner {
  /// Returns a signature of the message.
  /// - Parameter keys: the public keys of the role, by id; one of them must be the key of this signer.
  func sign(_ message: [UInt8], for keys: [KeyID: [UInt8]]) throws(UpdateError) -> SignedDocument.Signature
}

/// A private key of Ed25519 in a file: PEM of PKCS #8, as `openssl genpkey -algorithm ed25519` writes it.
///
/// `@unchecked Sendable`: libcrypto's key is not changed after it was made.
package final class SigningKey: DocumentSigner, @unchecked Sendable {
  private static let limitBytes = 16 << 10

  package let publicKey: [UInt8]
  package let id: KeyID
  private let key: OpaquePointer

  private init(adopting key: OpaquePointer) throws(UpdateError) {
    self.key = key
    publicKey = try Self.publicKey(of: key)
    id = try KeyID(of: publicKey)
  }

  deinit { EVP_PKEY_free(key) }

  /// Makes a new key.
  package static func make() throws(UpdateError) -> SigningKey {
    guard let context = EVP_PKEY_CTX_new_id(EVP_PKEY_ED25519, nil) else { throw Ed25519Verifier.unavailable }
    defer { EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_keygen(context, &key) == 1, let key else {
      throw Ed25519Verifier.unavailable
    }
    return try SigningKey(adopting: key)
  }

  /// Reads a private key. The file must belong to this user, and no other user must be able to read it.
  package convenience init(file path: String) throws(UpdateError) {
    guard let file = FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK | O_NOCTTY), let status = file.status() else {
      throw UpdateError(.usage, path, "cannot be read: \(SystemError.text())")
    }
    guard let bytes = file.readAll(capacity: Self.limitBytes) else {
      throw UpdateError(.usage, path, "cannot be read: \(SystemError.text())")
    }
    if String(decoding: bytes, as: UTF8.self).contains("BEGIN PUBLIC KEY") {
      throw UpdateError(.usage, path, "is a public key", advice: "name the private key that signs")
    }
    guard status.isRegularFile, status.st_uid == geteuid() || status.st_uid == 0, status.st_mode & 0o077 == 0 else {
      throw UpdateError(
        .usage, path, "a private key must be a file that only you can read", advice: "chmod 600 \(path)")
    }
    let key = PEMText.key(bytes) { bio in
      // Without this callback, libcrypto would ask for the key's password on the terminal.
      PEM_read_bio_PrivateKey(bio, nil, { _, _, _, _ in 0 }, nil)
    }
    guard let key else {
      throw UpdateError(
        .usage, path, "is not a private key in PEM without a password",
        advice: "make one with \"sluice publish key\", or use --sign-with for a key that is kept elsewhere")
    }
    guard EVP_PKEY_get_id(key) == EVP_PKEY_ED25519 else {
      EVP_PKEY_free(key)
      throw UpdateError(.usage, path, "is a key of another kind than Ed25519")
    }
    try self.init(adopting: key)
  }

  /// Writes the private key to a new file that only its owner can read. An existing file is never replaced.
  package func write(to path: String) throws(UpdateError) {
    guard let text = PEMText.text({ PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) }) else {
      throw Ed25519Verifier.unavailable
    }
    try DurableFile.create(text, at: path, mode: 0o600)
  }

  /// Writes the public key (PEM of SubjectPublicKeyInfo) to a new file.
  package func writePublicKey(to path: String) throws(UpdateError) {
    guard let text = PEMText.text({ PEM_write_bio_PUBKEY($0, key) }) else { throw Ed25519Verifier.unavailable }
    try DurableFile.create(text, at: path, mode: 0o644)
  }

  package func sign(
    _ message: [UInt8], for keys: [KeyID: [UInt8]]
  ) throws(UpdateError) -> SignedDocument.Signature {
    guard keys[id] != nil else {
      throw UpdateError(
        .usage, "key \(id)", "it is not a key of the role that must sign this document",
        advice: "the root names the keys of each role: sluice publish show")
    }
    guard let context = EVP_MD_CTX_new() else { throw Ed25519Verifier.unavailable }
    defer { EVP_MD_CTX_free(context) }
    var signature = [UInt8](repeating: 0, count: 64)
    var length = signature.count
    guard EVP_DigestSignInit(context, nil, nil, nil, key) == 1,
      EVP_DigestSign(context, &signature, &length, message, message.count) == 1, length == 64
    else { throw Ed25519Verifier.unavailable }
    return SignedDocument.Signature(key: id, bytes: signature)
  }

  fileprivate static func publicKey(of key: OpaquePointer) throws(UpdateError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 32)
    var length = bytes.count
    guard EVP_PKEY_get_raw_public_key(key, &bytes, &length) == 1, length == 32 else {
      throw Ed25519Verifier.unavailable
    }
    return bytes
  }
}

/// A public key in a file: PEM of SubjectPublicKeyInfo.
package enum PublicKeyFile {
  package static func read(_ path: String) throws(UpdateError) -> [UInt8] {
    let bytes = try DurableFile.read(path, limitBytes: 16 << 10)
    guard let key = PEMText.key(bytes, { PEM_read_bio_PUBKEY($0, nil, nil, nil) }) else {
      throw UpdateError(.usage, path, "is not a public key in PEM")
    }
    defer { EVP_PKEY_free(key) }
    guard EVP_PKEY_get_id(key) == EVP_PKEY_ED25519 else {
      throw UpdateError(.usage, path, "is a key of another kind than Ed25519")
    }
    return try SigningKey.publicKey(of: key)
  }
}

private enum PEMText {
  /// Reads a key from PEM text with `read`; nil if the text has no such key.
  static func key(_ bytes: [UInt8], _ read: (OpaquePointer) -> OpaquePointer?) -> OpaquePointer? {
    guard let bio = BIO_new_mem_buf(bytes, CInt(clamping: bytes.count)) else { return nil }
    defer { BIO_free(bio) }
    return withExtendedLifetime(bytes) { read(bio) }
  }

  static func text(_ write: (OpaquePointer) -> CInt) -> [UInt8]? {
    guard let bio = BIO_new(BIO_s_mem()) else { return nil }
    defer { BIO_free(bio) }
    guard write(bio) == 1 else { return nil }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = BIO_read(bio, &bytes, CInt(bytes.count))
    return count > 0 ? Array(bytes.prefix(Int(count))) : nil
  }
}
