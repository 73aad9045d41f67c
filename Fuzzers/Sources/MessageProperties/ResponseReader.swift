import SluiceHTTP1
import SluiceMessages

/// Reads responses that arrive in pieces, as a connection does, and checks each step.
struct ResponseReader {
  private let head: ResponseHead
  private let limits: MessageLimits

  init(_ limits: MessageLimits) {
    self.limits = limits
    head = ResponseHead(limits)
  }

  /// Reads one response. Uses the same parser object as for the previous response, to check that it has kept nothing of
  /// that response.
  ///
  /// - Parameter pieceBytes: the size of the next piece.
  func read(_ bytes: [UInt8], isAnswerToHead: Bool, pieceBytes: () -> Int) -> ResponseOutcome {
    var outcome = ResponseOutcome()
    head.begin(isAnswerToHead: isAnswerToHead)
    var body: ReceivedBody?
    // The bytes that have arrived and are not read yet.
    var held = 0..<0
    while held.upperBound < bytes.count, outcome.end == nil, outcome.violation == nil {
      held = held.lowerBound..<held.upperBound + min(max(pieceBytes(), 1), bytes.count - held.upperBound)
      do throws(MessageViolation) {
        while body == nil, try readHead(in: bytes, &held, &outcome) {
          if head.isInformational { head.beginNext() } else { body = ReceivedBody(head.body, limits) }
        }
        if body != nil { try read(&body, in: bytes, &held, &outcome) }
      } catch { outcome.violation = error }
    }
    return outcome
  }

  private func readHead(
    in bytes: [UInt8], _ held: inout Range<Int>, _ outcome: inout ResponseOutcome
  ) throws(MessageViolation) -> Bool {
    let span = bytes.span.extracting(held)
    guard try head.read(span) else { return false }
    outcome.demand(head.byteCount <= span.count, "a head is longer than the bytes that have arrived")
    let fieldCount = head.fieldCount
    let fields = head.takeFields(from: span)
    outcome.demand(fields.count == fieldCount, "fields are missing")
    outcome.heads.append(
      ResponseOutcome.Head(
        status: head.status, version: head.version, fields: ResponseOutcome.fields(fields), body: head.body,
        endsConnection: head.endsConnection, hasContentCoding: head.hasContentCoding,
        hasTransferCoding: head.hasTransferCoding))
    held = held.lowerBound + head.byteCount..<held.upperBound
    if !head.isInformational { outcome.bodyStart = held.lowerBound }
    return true
  }

  private func read(
    _ body: inout ReceivedBody?, in bytes: [UInt8], _ held: inout Range<Int>, _ outcome: inout ResponseOutcome
  ) throws(MessageViolation) {
    guard var reading = body else { return }
    let isWhole = reading.isWhole(in: held.count)
    let span = bytes.span.extracting(held)
    var position = 0
    while true {
      let before = position
      let piece = try reading.next(in: span, at: &position)
      outcome.demand(before <= position && position <= span.count, "the position goes back, or passes the end")
      guard let piece else { break }
      outcome.demand(before <= piece.lowerBound && piece.upperBound == position, "data does not end at the position")
      outcome.demand(!piece.isEmpty, "a piece of data is empty")
      outcome.body += bytes[held][(held.lowerBound + piece.lowerBound)..<(held.lowerBound + piece.upperBound)]
    }
    outcome.demand(reading.isDone || position == span.count, "bytes of a body are not read")
    outcome.demand(!isWhole || reading.isDone, "a body that is whole is not done")
    outcome.demand(!reading.mayEndWithConnection || !reading.isDone, "a body that ends with the connection is done")
    let end = position
    if reading.isDone {
      let more = try reading.next(in: span, at: &position)
      outcome.demand(more == nil && position == end, "a body goes on after its end")
      outcome.end = held.lowerBound + end
      outcome.trailers = ResponseOutcome.fields(reading.trailers)
    }
    held = held.lowerBound + end..<held.upperBound
    body = reading
  }
}
