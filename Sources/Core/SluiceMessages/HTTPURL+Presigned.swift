extension HTTPURL {
  /// Whether the query has a signature of the request, so that everyone who has the URL can use it: AWS
  /// (`X-Amz-Signature`, or `Signature` with `Expires` or `Key-Pair-Id`), Google Cloud (`X-Goog-Signature`), Azure
  /// (`sig` with `se`).
  ///
  /// Names are compared case-insensitively and after percent-decoding.
  package var isPresigned: Bool {
    guard let queryRange else { return false }
    let text = string.utf8.span
    var found: SignedQuery = []
    var start = queryRange.lowerBound
    while start < queryRange.upperBound {
      var end = start
      while end < queryRange.upperBound, text[end] != UInt8(ascii: "&") { end += 1 }
      found.formUnion(SignedQuery(parameter: text, start..<end))
      start = end + 1
    }
    return found.isSigned
  }
}

/// The parameters of a signature that were found in a query.
private struct SignedQuery: OptionSet {
  let rawValue: UInt8

  /// A parameter that is a complete signature without other parameters.
  static let whole = SignedQuery(rawValue: 1)
  static let signature = SignedQuery(rawValue: 2)
  static let signatureScope = SignedQuery(rawValue: 4)
  static let azureSignature = SignedQuery(rawValue: 8)
  static let azureExpiry = SignedQuery(rawValue: 16)

  var isSigned: Bool {
    contains(.whole) || isSuperset(of: [.signature, .signatureScope])
      || isSuperset(of: [.azureSignature, .azureExpiry])
  }

  /// Recognizes the parameter in that range of the text by its name; empty for a parameter that is not part of a
  /// signature.
  init(parameter text: Span<UInt8>, _ range: Range<Int>) {
    var name = InlineArray<16, UInt8>(repeating: 0)
    var count = 0
    var index = range.lowerBound
    while index < range.upperBound, text[index] != UInt8(ascii: "=") {
      guard count < 16 else {
        self = []
        return
      }
      name[count] = PercentCoding.next(text, &index, range.upperBound).asciiLowercased
      count += 1
    }
    self = Self.meaning(name.span.extracting(0..<count))
  }

  init(rawValue: UInt8) { self.rawValue = rawValue }

  private static func meaning(_ name: Span<UInt8>) -> SignedQuery {
    switch name.count {
    case 2: FieldSyntax.equals(name, "se") ? .azureExpiry : []
    case 3: FieldSyntax.equals(name, "sig") ? .azureSignature : []
    case 7: FieldSyntax.equals(name, "expires") ? .signatureScope : []
    case 9: FieldSyntax.equals(name, "signature") ? .signature : []
    case 11: FieldSyntax.equals(name, "key-pair-id") ? .signatureScope : []
    case 15: FieldSyntax.equals(name, "x-amz-signature") ? .whole : []
    case 16: FieldSyntax.equals(name, "x-goog-signature") ? .whole : []
    default: []
    }
  }
}
