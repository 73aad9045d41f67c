import SluiceJSON
import SluiceMessages
package import SluiceUpdateRules

extension SignedDocument {
  /// The maximum number of signatures of one document.
  private static let signatureLimit = 64

  /// Reads the file of a document. The payload is not read yet, because its signatures must be checked first.
  /// - Parameter subject: names the document in errors.
  package init(file bytes: [UInt8], _ subject: String) throws(UpdateError) {
    let reader = try DocumentReader(bytes, subject)
    let payloadType = try reader.string("payloadType")
    guard let payload = Base64.decode(Array(try reader.string("payload").utf8)) else {
      throw reader.malformed("\"payload\" is not Base64")
    }
    var signatures: [Signature] = []
    for element in try reader.objects("signatures", limit: Self.signatureLimit) {
      let name = try element.string("keyid")
      guard let key = KeyID(hex: name) else {
        throw reader.malformed("\(PlainText.quote(name)) is not the id of a key")
      }
      guard let signature = Base64.decode(Array(try element.string("sig").utf8)), signature.count == 64 else {
        throw reader.malformed("the signature of key \(key) is not Base64 of 64 bytes")
      }
      signatures.append(Signature(key: key, bytes: signature))
    }
    self.init(payloadType: payloadType, payload: payload, signatures: signatures)
  }

  /// The bytes of the file, with a line end at the end.
  package var file: [UInt8] {
    let list = signatures.sorted { $0.key < $1.key }.map { signature -> JSONValue in
      ["keyid": JSONValue(signature.key.hex), "sig": Self.text(signature.bytes)]
    }
    return DocumentText.bytes([
      "payloadType": JSONValue(payloadType), "payload": Self.text(payload), "signatures": .array(of: list),
    ])
  }

  private static func text(_ bytes: [UInt8]) -> JSONValue {
    JSONValue(String(decoding: Base64.encode(bytes), as: UTF8.self))
  }
}

/// The text form of the documents of this module.
enum DocumentText {
  static func bytes(_ document: JSONValue) -> [UInt8] {
    // The document was built from valid strings, so writing it cannot fail.
    ((try? document.serialized()) ?? []) + [UInt8(ascii: "\n")]
  }
}
