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
  /// The maximum number of trailers that a caller or stages can add to a body. A received head may have as many fields.
  package static let maximumTrailers = 4096
  /// The maximum number of bytes of these trailers, including their line ends.
  package static let maximumTrailerBytes = 256 << 10

  /// Whether another trailer can be added.
  package func hasRoomForTrailer(_ name: Span<UInt8>, _ value: Span<UInt8>) -> Bool {
    count < Self.maximumTrailers && wireByteCount + name.count + value.count + 4 <= Self.maximumTrailerBytes
  }

  /// Checks the number and the size of trailers that a caller or stages have added.
  package func validateTrailerCount() throws(MessageError) {
    guard count <= Self.maximumTrailers else {
      throw MessageError(.invalidHeader, "trailers", "more than \(Self.maximumTrailers) trailers; found \(count)")
    }
    guard wireByteCount <= Self.maximumTrailerBytes else {
      throw MessageError(
        .invalidHeader, "trailers", "more than \(Self.maximumTrailerBytes) bytes of trailers; found \(wireByteCount)")
    }
  }

  /// Checks every name and value, how many there are, and that no field is barred from trailers (RFC 9110 §6.5.1).
  package func validateTrailers() throws(MessageError) {
    try validateTrailerCount()
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
