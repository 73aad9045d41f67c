import SluiceMessages

/// A signature of a request, which an additional header could make invalid.
enum RequestSignature: Sendable, Hashable {
  /// An `Authorization` whose scheme signs headers: AWS SigV4 and SigV4a, Google Cloud, Signature.
  case authorization
  /// The field `Signature-Input` (RFC 9421), or the field `Signature` of earlier drafts.
  case message
  /// The query of the URL contains the signature.
  case url

  static func of(_ headers: borrowing HeaderFields, _ url: borrowing HTTPURL) -> RequestSignature? {
    for index in headers.indices {
      let name = headers.buffer.span.extracting(headers.nameRange(at: index))
      switch name.count {
      case 9: if FieldSyntax.equals(name, "signature") { return .message }
      case 13: if FieldSyntax.equals(name, "authorization"), signs(headers, index) { return .authorization }
      case 15: if FieldSyntax.equals(name, "signature-input") { return .message }
      default: break
      }
    }
    return url.isPresigned ? .url : nil
  }

  private static func signs(_ headers: borrowing HeaderFields, _ index: Int) -> Bool {
    let value = headers.buffer.span.extracting(headers.valueRange(at: index))
    for scheme in ["aws4-", "goog4-", "signature "] where value.count >= scheme.utf8.count {
      if FieldSyntax.equals(value.extracting(0..<scheme.utf8.count), text: scheme) { return true }
    }
    return false
  }
}

/// What happens to signed requests.
enum SignedRequests: String, Sendable, CaseIterable {
  /// Signed requests are sent unchanged.
  case skip
  /// Signed requests are treated like any other request.
  case inject
}
