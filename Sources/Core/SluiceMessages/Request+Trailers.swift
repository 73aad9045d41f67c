extension Request {
  /// Fields that are sent after the body (RFC 9110 §6.5). The transport announces their names in `Trailer`.
  ///
  /// Over HTTP/1.1, the request is sent in chunks. Two rules are checked when the request begins: the request must have
  /// a body, and no trailer may frame, route or describe the message (RFC 9110 §6.5.1).
  public var trailers: HeaderFields {
    get { sharedTrailers.fields }
    set { sharedTrailers.fields = newValue }
    _modify {
      // Takes the fields out of the storage, so that a change in place does not copy them.
      var shared = sharedTrailers
      sharedTrailers = nil
      defer { if let shared { sharedTrailers = shared } }
      yield &shared.fields
    }
  }

  /// Whether there is a trailer.
  package var hasTrailers: Bool { sharedTrailers != nil }

  /// Checks that the trailers can be sent after the body.
  package func validateTrailers() throws(MessageError) {
    guard let fields = sharedTrailers?.value else { return }
    try fields.validateTrailers()
    guard method != "HEAD" else {
      throw MessageError(
        .invalidHeader, "trailers", "a HEAD request has no body, so it cannot have trailers; set headers instead")
    }
    guard !body.isEmpty else {
      throw MessageError(
        .invalidHeader, "trailers", "the request has no body, so it cannot have trailers; add a body or set headers")
    }
  }
}

extension HeaderFields {
  /// Removes the fields that would change how the next recipient reads the message (RFC 9110 §6.5.1).
  package mutating func removeBarredFromTrailers() {
    for index in indices.reversed()
    where FieldSyntax.isBarredFromTrailers(buffer.span.extracting(nameRange(at: index))) {
      remove(at: index)
    }
  }

  /// Checks every name and value, how many there are, and that no field is barred from trailers (RFC 9110 §6.5.1).
  package func validateTrailers() throws(MessageError) {
    try validateSize(of: "trailers")
    for index in indices {
      let name = buffer.span.extracting(nameRange(at: index))
      do throws(MessageError) {
        try Self.check(name: name, value: buffer.span.extracting(valueRange(at: index)))
      } catch { throw MessageError(error.code, "trailer \(PlainText.quote(name))", error.reason) }
      guard !FieldSyntax.isBarredFromTrailers(name) else {
        throw MessageError(
          .invalidHeader, "trailer \(PlainText.quote(name))",
          "this field frames, routes or describes the message, so it must come before the body; set it as a header")
      }
    }
  }
}
