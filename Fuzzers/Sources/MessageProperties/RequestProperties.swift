import SluiceHTTP1
import SluiceMessages

/// The properties of every request that a server receives, whatever its bytes are.
public enum RequestProperties {
  /// The first property that does not hold for these bytes; nil if all of them hold.
  public static func broken(by bytes: [UInt8]) -> String? {
    let reader = RequestReader(MessageLimits())
    let whole = reader.read(bytes) { .max }
    if let property = broken(by: whole, of: bytes) { return property }
    var sizes = PieceSizes(for: bytes)
    for _ in 0..<2 {
      guard reader.read(bytes, pieceBytes: { sizes.next() }).agreed == whole.agreed else {
        return "pieces change the result"
      }
    }
    guard reader.read(bytes, pieceBytes: { 1 }).agreed == whole.agreed else { return "single bytes change the result" }
    return brokenAtLimits(by: bytes, &sizes)
  }

  /// Checks the bytes with limits that a short input can reach. If the input has two faults, the sizes of the pieces can
  /// decide which fault is found first.
  private static func brokenAtLimits(by bytes: [UInt8], _ sizes: inout PieceSizes) -> String? {
    var limits = MessageLimits()
    (limits.headBytes, limits.targetBytes, limits.fields, limits.chunkExtensionBytes) = (120, 20, 4, 10)
    let reader = RequestReader(limits)
    let whole = reader.read(bytes) { .max }
    let pieces = reader.read(bytes) { sizes.next() }
    if whole.violation != nil { return pieces.violation == nil ? "pieces get past a limit" : nil }
    guard pieces == whole else { return "pieces change the result at a limit" }
    let isWithin = whole.head.map { $0.fields.count <= limits.fields && $0.byteCount <= limits.headBytes } ?? true
    return isWithin && whole.trailers.count <= limits.fields ? nil : "a limit does not hold"
  }

  private static func broken(by outcome: RequestOutcome, of bytes: [UInt8]) -> String? {
    guard let head = outcome.head else {
      return outcome.body.isEmpty && outcome.end == nil ? nil : "a body without a head"
    }
    guard FieldSyntax.isToken(head.method.span) else { return "a method that is no token" }
    guard head.target.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return "a target with a blank or a control" }
    for field in head.fields + outcome.trailers {
      guard FieldSyntax.isToken(field.name.span), FieldSyntax.isFieldValue(field.value.span) else {
        return "a field is not valid"
      }
    }
    let hosts = head.fields.count { FieldSyntax.equals($0.name.span, "host") }
    guard hosts == 1 || hosts == 0 && head.version == .http10 else { return "not one Host" }
    if outcome.violation == nil, !isReadAgain(head) { return "a head differs after it is written and read again" }
    return broken(by: outcome, head, rest: bytes[head.byteCount...])
  }

  private static func broken(
    by outcome: RequestOutcome, _ head: RequestOutcome.Head, rest: ArraySlice<UInt8>
  ) -> String? {
    switch head.body {
    case .none:
      return outcome.body.isEmpty && outcome.end == rest.startIndex ? nil : "the request does not end with its head"
    case .length(let count):
      guard outcome.body.elementsEqual(rest.prefix(count)) else { return "the data and the length disagree" }
      let end = count <= rest.count ? rest.startIndex + count : nil
      return outcome.end == end ? nil : "the end is not where the length ends"
    case .chunked: return nil
    case .codedChunks: return "a coding that no server knows"
    }
  }

  private static func isReadAgain(_ head: RequestOutcome.Head) -> Bool {
    var bytes = head.method + [0x20] + head.target + Array(" HTTP/1.\(head.version == .http10 ? 0 : 1)\r\n".utf8)
    for field in head.fields { bytes += field.name + Array(": ".utf8) + field.value + [0x0D, 0x0A] }
    bytes += [0x0D, 0x0A]
    guard var again = RequestReader(MessageLimits()).read(bytes, pieceBytes: { .max }).head else { return false }
    guard again.byteCount == bytes.count else { return false }
    again.byteCount = head.byteCount
    return again == head
  }
}

/// The result of reading a request.
struct RequestOutcome: Equatable {
  struct Head: Equatable {
    let method: [UInt8]
    let target: [UInt8]
    let version: HTTPVersion
    let form: RequestTarget.Form
    let fields: [ResponseOutcome.Field]
    let body: RequestFraming.Body
    let endsConnection: Bool
    let hasUpgrade: Bool
    let expectation: ReceivedRequestHead.Expectation
    var byteCount: Int
  }

  var head: Head?
  var body: [UInt8] = []
  var trailers: [ResponseOutcome.Field] = []
  /// The position at which the request ends; nil if it has not ended.
  var end: Int?
  var violation: RequestViolation?

  /// The part of the result that does not depend on the sizes of the pieces. The reason of a refusal can quote what has
  /// arrived.
  var agreed: RequestOutcome {
    var outcome = self
    outcome.violation = violation.map { RequestViolation($0.status, "") }
    return outcome
  }
}

/// Reads requests that arrive in pieces, as a connection does.
struct RequestReader {
  private let head: ReceivedRequestHead
  private let limits: MessageLimits

  init(_ limits: MessageLimits) {
    self.limits = limits
    head = ReceivedRequestHead(limits)
  }

  /// Reads one request, with the parser object of the previous one.
  /// - Parameter pieceBytes: the size of the next piece.
  func read(_ bytes: [UInt8], pieceBytes: () -> Int) -> RequestOutcome {
    var outcome = RequestOutcome()
    head.begin()
    var body: ReceivedBody?
    var (start, arrived) = (0, 0)
    while arrived < bytes.count, outcome.end == nil, outcome.violation == nil {
      arrived += min(max(pieceBytes(), 1), bytes.count - arrived)
      let held = bytes.span.extracting(start..<arrived)
      do throws(RequestViolation) {
        if body == nil {
          guard try head.read(held) else { continue }
          outcome.head = fields(bytes, held)
          start += head.byteCount
          body = ReceivedBody(head.body, limits)
        }
        try read(&body, bytes.span.extracting(start..<arrived), &start, &outcome)
      } catch { outcome.violation = error }
    }
    return outcome
  }

  private func fields(_ bytes: [UInt8], _ held: Span<UInt8>) -> RequestOutcome.Head {
    RequestOutcome.Head(
      method: Array(bytes[head.method]), target: Array(bytes[head.target]), version: head.version, form: head.form,
      fields: ResponseOutcome.fields(head.takeFields(from: held)), body: head.body,
      endsConnection: head.endsConnection, hasUpgrade: head.hasUpgrade, expectation: head.expectation,
      byteCount: head.byteCount)
  }

  private func read(
    _ body: inout ReceivedBody?, _ held: Span<UInt8>, _ start: inout Int, _ outcome: inout RequestOutcome
  ) throws(RequestViolation) {
    guard var reading = body else { return }
    var position = 0
    do throws(MessageViolation) {
      while let piece = try reading.next(in: held, at: &position) {
        outcome.body += [UInt8](copying: held.extracting(piece))
      }
    } catch { throw RequestViolation(error) }
    start += position
    if reading.isDone {
      outcome.end = start
      outcome.trailers = ResponseOutcome.fields(reading.trailers)
    }
    body = reading
  }
}
