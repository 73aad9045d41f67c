import SluiceHTTP1
import SluiceMessages

/// The properties of every response, whatever its bytes are. Used by the fuzzers, which are a separate package and
/// cannot see the parser, and by tests.
public enum ResponseProperties {
  /// The first property that does not hold for these bytes; nil if all of them hold.
  public static func broken(by bytes: [UInt8]) -> String? {
    for isAnswerToHead in [false, true] {
      let reader = ResponseReader(MessageLimits())
      let whole = reader.read(bytes, isAnswerToHead: isAnswerToHead) { .max }
      if let property = broken(by: whole, of: bytes) { return property }
      var sizes = PieceSizes(for: bytes)
      for _ in 0..<2 {
        let pieces = reader.read(bytes, isAnswerToHead: isAnswerToHead) { sizes.next() }
        if let property = pieces.brokenProperty { return property }
        guard pieces.agreed == whole.agreed else { return "pieces change the result" }
      }
      let single = reader.read(bytes, isAnswerToHead: isAnswerToHead) { 1 }
      guard single.agreed == whole.agreed else { return "single bytes change the result" }
      if let property = brokenAtLimits(by: bytes, isAnswerToHead, &sizes) { return property }
    }
    return nil
  }

  /// Checks the bytes with limits that a short input can reach. If the input has two faults, the sizes of the pieces
  /// can decide which fault is found first.
  private static func brokenAtLimits(
    by bytes: [UInt8], _ isAnswerToHead: Bool, _ sizes: inout PieceSizes
  ) -> String? {
    var limits = MessageLimits()
    limits.headBytes = 100
    limits.fields = 4
    limits.informationalResponses = 2
    limits.chunkExtensionBytes = 10
    let reader = ResponseReader(limits)
    let whole = reader.read(bytes, isAnswerToHead: isAnswerToHead) { .max }
    let pieces = reader.read(bytes, isAnswerToHead: isAnswerToHead) { sizes.next() }
    if let property = whole.brokenProperty ?? pieces.brokenProperty { return property }
    if whole.violation != nil { return pieces.violation == nil ? "pieces get past a limit" : nil }
    guard pieces == whole else { return "pieces change the result at a limit" }
    guard whole.heads.allSatisfy({ $0.fields.count <= limits.fields }), whole.trailers.count <= limits.fields,
      whole.heads.count <= limits.informationalResponses + 1
    else { return "a limit does not hold" }
    return nil
  }

  private static func broken(by outcome: ResponseOutcome, of bytes: [UInt8]) -> String? {
    if let property = outcome.brokenProperty { return property }
    for head in outcome.heads {
      guard (100...999).contains(head.status) else { return "a status without three digits" }
      guard isReadAgain(head) else { return "a head differs after it is written and read again" }
    }
    guard outcome.heads.dropLast().allSatisfy({ $0.status < 200 }) else { return "two final heads" }
    guard (outcome.heads.flatMap(\.fields) + outcome.trailers).allSatisfy(isField) else {
      return "a field is not valid"
    }
    guard let start = outcome.bodyStart, let head = outcome.heads.last else {
      return outcome.body.isEmpty && outcome.end == nil ? nil : "a body without a head"
    }
    return broken(by: outcome, head.body, rest: bytes[start...])
  }

  private static func broken(
    by outcome: ResponseOutcome, _ framing: ResponseFraming.Body, rest: ArraySlice<UInt8>
  ) -> String? {
    switch framing {
    case .none:
      return outcome.body.isEmpty && outcome.end == rest.startIndex ? nil : "the response does not end with its head"
    case .length(let count):
      guard outcome.body.elementsEqual(rest.prefix(count)) else { return "the data and the length disagree" }
      let end = count <= rest.count ? rest.startIndex + count : nil
      return outcome.end == end ? nil : "the end is not where the length ends"
    case .close, .stream: return outcome.body.elementsEqual(rest) && outcome.end == nil ? nil : "data is missing"
    case .chunked:
      return isReadAgain(body: outcome.body) ? nil : "a body differs after it is written in chunks and read again"
    }
  }

  /// Whether the name is a token, and whether the value contains no line end and no NUL, and neither begins nor ends
  /// with a blank.
  private static func isField(_ field: ResponseOutcome.Field) -> Bool {
    FieldSyntax.isToken(field.name.span) && !field.value.contains { $0 == 0 || $0 == 0x0A || $0 == 0x0D }
      && ![field.value.first, field.value.last].contains { [0x20, 0x09].contains($0) }
  }

  private static func isReadAgain(_ head: ResponseOutcome.Head) -> Bool {
    var bytes = Array("HTTP/1.\(head.version == .http10 ? 0 : 1) \(head.status) \r\n".utf8)
    for field in head.fields { bytes += field.name + Array(": ".utf8) + field.value + [0x0D, 0x0A] }
    bytes += [0x0D, 0x0A]
    // A final head without a body can be the answer to a HEAD request.
    let isAnswerToHead = head.body == .none && head.status >= 200
    let again = ResponseReader(MessageLimits()).read(bytes, isAnswerToHead: isAnswerToHead) { .max }
    return again.heads == [head]
  }

  private static func isReadAgain(body: [UInt8]) -> Bool {
    guard !body.isEmpty else { return true }
    var bytes: [UInt8] = []
    ChunkEncoder.append(to: &bytes, dataBytes: body.count)
    bytes += body + ChunkEncoder.lineEnd + ChunkEncoder.end
    let chunks = ChunkDecoder()
    var position = 0
    guard let piece = try? chunks.next(in: bytes.span, at: &position), bytes[piece].elementsEqual(body) else {
      return false
    }
    return (try? chunks.next(in: bytes.span, at: &position)) == .some(nil) && chunks.isDone && position == bytes.count
  }
}
