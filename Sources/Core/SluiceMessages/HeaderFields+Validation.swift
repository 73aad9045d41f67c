extension HeaderFields {
  /// Checks every name and value against RFC 9110; CR, LF and NUL are refused everywhere.
  package func validate() throws(MessageError) {
    for index in indices {
      try Self.check(
        name: buffer.span.extracting(nameRange(at: index)), value: buffer.span.extracting(valueRange(at: index)))
    }
  }

  /// Checks one field before it is added.
  package static func check(name: Span<UInt8>, value: Span<UInt8>) throws(MessageError) {
    guard FieldSyntax.isToken(name) else {
      throw MessageError(
        .invalidHeader, "header \(PlainText.quote(name))",
        "not a field name: expected letters, digits and !#$%&'*+-.^_`|~")
    }
    guard FieldSyntax.isFieldValue(value) else {
      throw MessageError(
        .invalidHeader, "header \(PlainText.quote(name))",
        "its value holds CR, LF, NUL or another control character, or begins or ends with a space")
    }
  }
}
