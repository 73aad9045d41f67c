import SluiceHTTP1
import SluiceMessages

extension Answer {
  /// Returns what `SluiceHTTP1` reads from the bytes.
  static func ours(to bytes: [UInt8], isAnswerToHead: Bool) -> Answer {
    var answer = Answer()
    do throws(MessageViolation) {
      try answer.read(bytes, isAnswerToHead)
    } catch { answer.refusal = error.reason }
    return answer
  }

  private mutating func read(_ bytes: [UInt8], _ isAnswerToHead: Bool) throws(MessageViolation) {
    let head = ResponseHead()
    head.begin(isAnswerToHead: isAnswerToHead)
    while true {
      let rest = bytes.span.extracting(position..<bytes.count)
      guard try head.read(rest) else { return }
      heads.append(
        Head(status: head.status, isHTTP10: head.version == .http10, fields: Self.fields(head.takeFields(from: rest))))
      position += head.byteCount
      if !head.isInformational { break }
      head.beginNext()
    }
    keepsConnection = !head.endsConnection
    var reading = ReceivedBody(head.body)
    var bodyPosition = position
    while let piece = try reading.next(in: bytes.span, at: &bodyPosition) { body += bytes[piece] }
    trailers = Self.fields(reading.trailers)
    if reading.isDone { end = .at(bodyPosition) }
    if reading.mayEndWithConnection { end = .connection }
  }

  private static func fields(_ fields: HeaderFields) -> [Field] {
    fields.indices.map {
      Field(
        name: Array(fields.buffer[fields.nameRange(at: $0)]), value: Array(fields.buffer[fields.valueRange(at: $0)]))
    }
  }
}
