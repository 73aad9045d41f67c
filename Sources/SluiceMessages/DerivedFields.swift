/// The fields that describe the bytes of a body. They are wrong as soon as a stage has changed the body: digests
/// (RFC 9530, RFC 3230, RFC 1864), and in a response a strong entity tag (RFC 9110 §8.8.3).
///
/// The host removes them. It leaves a field that a signature covers, because a receiver would otherwise not notice that
/// the body is not the signed one.
package struct DerivedFields: Sendable, Equatable {
  private static let digests = ["content-digest", "repr-digest", "digest", "content-md5"]

  /// The names of the fields to remove, in lower case.
  package private(set) var removed: [String] = []
  /// The names of those that are left because a signature covers them.
  package private(set) var signed: [String] = []

  /// - Parameters:
  ///   - isResponse: whether the message is a response.
  ///   - values: returns the values of a field of the message.
  package init(isResponse: Bool, values: (String) -> [String]) {
    for name in Self.digests + (isResponse ? ["etag"] : []) {
      guard let first = values(name).first, name != "etag" || !first.hasPrefix("W/") else { continue }
      if Self.isSigned(name, values) { signed.append(name) } else { removed.append(name) }
    }
  }

  /// What the host says about the fields that it leaves; nil if it leaves none.
  package var warning: String? {
    guard !signed.isEmpty else { return nil }
    let names = signed.joined(separator: ", ")
    return "has changed a body, but a signature covers \(names), which still describes the old body; "
      + "change the body before the request is signed"
  }

  private static func isSigned(_ name: String, _ values: (String) -> [String]) -> Bool {
    // RFC 9421 §4.1: a list of quoted names.
    if values("signature-input").contains(where: { $0.lowercased().contains("\"\(name)\"") }) { return true }
    // draft-cavage-http-signatures: headers="date digest"; AWS Signature Version 4: SignedHeaders=content-md5;host.
    return (values("signature") + values("authorization")).contains { value in
      let value = value.lowercased()
      return isListed(name, in: value, after: "headers=\"", separator: " ", end: "\"")
        || isListed(name, in: value, after: "signedheaders=", separator: ";", end: ",")
    }
  }

  private static func isListed(
    _ name: String, in value: String, after start: String, separator: Character, end: Character
  ) -> Bool {
    guard let range = value.firstRange(of: start) else { return false }
    return value[range.upperBound...].prefix { $0 != end }.split(separator: separator)
      .contains { $0.trimmingPrefix(" ") == name }
  }
}

extension HeaderFields {
  /// Removes the fields that describe a body which is being replaced.
  package mutating func removeDerivedFields(isResponse: Bool) -> DerivedFields {
    let fields = DerivedFields(isResponse: isResponse) { [fields = self] in fields[values: $0] }
    for name in fields.removed { remove(name) }
    return fields
  }
}
