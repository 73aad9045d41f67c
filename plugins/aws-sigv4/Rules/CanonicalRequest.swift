/// The text of a request that client and server hash.
package struct CanonicalRequest: Sendable {
  package let bytes: [UInt8]
  /// The names of the signed fields, sorted and separated by `;`.
  package let signedNames: String

  /// - Parameters:
  ///   - path: as ``CanonicalURL/path(_:isS3:)`` returns it.
  ///   - query: as ``CanonicalURL/query(_:)`` returns it.
  ///   - bodyHash: the hash of the body in hexadecimal, or a word such as `UNSIGNED-PAYLOAD`.
  package init(method: String, path: String, query: String, fields: SignedFields, bodyHash: String) {
    let lines = fields.lines
    signedNames = lines.map(\.name).joined(separator: ";")
    var bytes = Array("\(method)\n\(path)\n\(query)\n".utf8)
    for line in lines { bytes += Array("\(line.name):".utf8) + line.value + [UInt8(ascii: "\n")] }
    bytes += "\n\(signedNames)\n\(bodyHash)".utf8
    self.bytes = bytes
  }
}
