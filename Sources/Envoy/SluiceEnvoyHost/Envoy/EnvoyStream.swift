import CEnvoy
import SluiceMessages

/// One stream in Envoy, as a filter of the module sees it. Only for the worker of the stream.
struct EnvoyStream {
  private let filter: sluice_envoy_filter

  init(_ filter: sluice_envoy_filter) { self.filter = filter }

  // MARK: Fields

  /// Calls the function with each field of a part. The texts are borrowed until the message is changed.
  func forEachField(
    of part: sluice_envoy_part, _ body: (_ name: Span<UInt8>, _ value: Span<UInt8>) -> Void
  ) {
    let count = sluice_envoy_field_count(filter, part)
    guard count > 0 else { return }
    withUnsafeTemporaryAllocation(of: sluice_envoy_field.self, capacity: count) { fields in
      guard let start = fields.baseAddress, sluice_envoy_fields(filter, part, start) else { return }
      for field in fields { body(field.name.buffer.span, field.value.buffer.span) }
    }
  }

  /// - Parameter value: nil removes all fields of that name.
  func set(_ name: Span<UInt8>, to value: Span<UInt8>?, in part: sluice_envoy_part) {
    name.withText { name in
      guard let value else { return _ = sluice_envoy_set(filter, part, name, sluice_envoy_text()) }
      value.withText { _ = sluice_envoy_set(filter, part, name, $0) }
    }
  }

  /// Returns false if this Envoy cannot add a field beside another one of that name.
  func add(_ name: Span<UInt8>, _ value: Span<UInt8>, to part: sluice_envoy_part) -> Bool {
    name.withText { name in value.withText { sluice_envoy_add(filter, part, name, $0) } }
  }

  // MARK: Bodies

  func byteCount(of side: BodySide, _ place: sluice_envoy_place) -> Int {
    withPieces(of: side, place) { $0.reduce(0) { $0 + $1.length } }
  }

  /// All that Envoy has of a body that is complete, and the place for another one.
  func takeBody(of side: BodySide) -> (body: Body, place: sluice_envoy_place) {
    var bytes: [UInt8] = []
    appendBody(of: side, SLUICE_ENVOY_BUFFERED, to: &bytes)
    let isBuffered = !bytes.isEmpty
    appendBody(of: side, SLUICE_ENVOY_RECEIVED, to: &bytes)
    return (bytes.isEmpty ? .empty : .bytes(bytes), isBuffered ? SLUICE_ENVOY_BUFFERED : SLUICE_ENVOY_RECEIVED)
  }

  /// Takes what has arrived of a body out of Envoy.
  func takePieces(of side: BodySide) -> [UInt8] {
    var bytes: [UInt8] = []
    for place in [SLUICE_ENVOY_BUFFERED, SLUICE_ENVOY_RECEIVED] {
      let before = bytes.count
      appendBody(of: side, place, to: &bytes)
      if bytes.count > before { _ = sluice_envoy_drain(filter, side == .request, place, bytes.count - before) }
    }
    return bytes
  }

  func append(_ bytes: [UInt8], to side: BodySide, in place: sluice_envoy_place) {
    if !bytes.isEmpty { _ = bytes.span.withText { sluice_envoy_append(filter, side == .request, place, $0) } }
  }

  private func appendBody(of side: BodySide, _ place: sluice_envoy_place, to bytes: inout [UInt8]) {
    withPieces(of: side, place) { pieces in
      for piece in pieces { bytes.append(copying: piece.buffer.span) }
    }
  }

  /// Replaces what Envoy has of a body by other bytes. Returns false if Envoy has no place for them.
  func replaceBody(of side: BodySide, by bytes: [UInt8], in place: sluice_envoy_place) -> Bool {
    for place in [SLUICE_ENVOY_BUFFERED, SLUICE_ENVOY_RECEIVED] {
      let count = byteCount(of: side, place)
      if count > 0 { _ = sluice_envoy_drain(filter, side == .request, place, count) }
    }
    guard !bytes.isEmpty else { return true }
    return bytes.span.withText { sluice_envoy_append(filter, side == .request, place, $0) }
  }

  /// The bytes that Envoy buffers at most; nil if this Envoy does not say.
  var bufferLimit: Int? {
    let limit = sluice_envoy_buffer_limit(filter)
    return limit == 0 ? nil : Int(clamping: limit)
  }

  private func withPieces<Result>(
    of side: BodySide, _ place: sluice_envoy_place, _ body: (UnsafeMutableBufferPointer<sluice_envoy_text>) -> Result
  ) -> Result {
    let count = sluice_envoy_body_count(filter, side == .request, place)
    return withUnsafeTemporaryAllocation(of: sluice_envoy_text.self, capacity: max(1, count)) { pieces in
      guard count > 0, let start = pieces.baseAddress, sluice_envoy_body(filter, side == .request, place, start) else {
        return body(UnsafeMutableBufferPointer(rebasing: pieces[..<0]))
      }
      return body(UnsafeMutableBufferPointer(rebasing: pieces[..<count]))
    }
  }

  // MARK: The way on

  /// Answers instead of the upstream. Must not be called in a hook other than `scheduled`.
  func reply(_ status: Int, _ fields: HeaderFields, _ body: [UInt8], details: StaticString) {
    fields.buffer.span.withText { lines in
      withUnsafeTemporaryAllocation(of: sluice_envoy_field.self, capacity: max(1, fields.count)) { forms in
        for index in fields.indices {
          forms[index] = sluice_envoy_field(
            name: lines.part(fields.nameRange(at: index)), value: lines.part(fields.valueRange(at: index)))
        }
        body.span.withText { body in
          details.withText {
            sluice_envoy_reply(filter, UInt32(clamping: status), forms.baseAddress, fields.count, body, $0)
          }
        }
      }
    }
  }

  func `continue`(_ side: BodySide) { sluice_envoy_continue(filter, side == .request) }

  func makeScheduler() -> sluice_envoy_scheduler? { sluice_envoy_scheduler_new(filter) }

  // MARK: Metrics

  func count(_ counter: Int, _ number: Int) { sluice_envoy_count(filter, counter, UInt64(number)) }

  func measure(_ gauge: Int, _ value: Int) { sluice_envoy_measure(filter, gauge, UInt64(value)) }

  // MARK: Facts

  func note(_ value: String, as key: StaticString) {
    key.withText { key in value.utf8.span.withText { sluice_envoy_note(filter, key, $0) } }
  }

  func noted(as key: StaticString) -> String? {
    var value = sluice_envoy_text()
    return key.withText { sluice_envoy_noted(filter, $0, &value) } ? value.string : nil
  }

  func attribute(_ attribute: sluice_envoy_attribute) -> String? {
    var value = sluice_envoy_text()
    return sluice_envoy_attribute(filter, attribute, &value) ? value.string : nil
  }
}

/// A side of a stream whose body passes.
enum BodySide {
  case request, response

  var part: sluice_envoy_part { self == .request ? SLUICE_ENVOY_REQUEST : SLUICE_ENVOY_RESPONSE }
}
