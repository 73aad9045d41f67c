import Glibc
import MessageProperties
import SluiceMessages
import Testing

@testable import SluiceHTTP1

/// Compares our reader of requests with http-parser on the same damaged requests. A request that both accept must be the
/// same request to both. What only one of them accepts cannot smuggle a request past the other.
///
/// Reads 20,000 requests, and 2,000 others in pieces. With `SLUICE_SOAK=1`, 1,500,000 and 100,000.
@Suite struct HTTPParserRequestTests {
  private static let isFull = getenv("SLUICE_SOAK") != nil

  @Test func `a request that both accept is the same request to both`() {
    var requests = MutatedMessages(.requests, seed: 18)
    let count = Self.isFull ? 1_500_000 : 20_000
    var accepted = 0
    var differences: [String] = []
    for _ in 0..<count where differences.count < 10 {
      let bytes = requests.next()
      guard let ours = Ours(bytes) else { continue }
      accepted += 1
      if let difference = ours.difference(from: bytes) {
        differences.append("\(difference): \(Answer.text(of: bytes).debugDescription)")
      }
    }
    for difference in differences { Issue.record("\(difference)") }
    #expect(differences.count >= 10 || accepted > count / 8, "\(accepted) of \(count) requests were accepted")
  }

  @Test func `a damaged request is read the same in pieces of any size`() {
    var requests = MutatedMessages(.requests, seed: 19)
    for _ in 0..<(Self.isFull ? 100_000 : 2_000) {
      let bytes = requests.next()
      let property = RequestProperties.broken(by: bytes)
      #expect(property == nil, "\(Answer.text(of: bytes).debugDescription)")
    }
  }
}

/// A request that our reader accepts up to its end.
private struct Ours {
  let start: String
  let fields: [Answer.Field]
  let trailers: [Answer.Field]
  let isHTTP10: Bool
  let body: [UInt8]
  let end: Int
  /// http-parser regards all bytes after such a head as those of another protocol.
  let isLast: Bool
  let endsConnection: Bool

  /// Nil if the request is refused or not complete.
  init?(_ bytes: [UInt8]) {
    let head = ReceivedRequestHead()
    guard (try? head.read(bytes.span)) == true else { return nil }
    start = Answer.text(of: Array(bytes[head.method])) + " " + Answer.text(of: Array(bytes[head.target]))
    fields = Self.fields(head.takeFields(from: bytes.span))
    (isHTTP10, isLast) = (head.version == .http10, head.hasUpgrade || head.form == .authority)
    endsConnection = head.endsConnection
    var reading = ReceivedBody(head.body)
    var (position, body) = (head.byteCount, [UInt8]())
    do throws(MessageViolation) {
      while let piece = try reading.next(in: bytes.span, at: &position) { body += bytes[piece] }
    } catch { return nil }
    guard reading.isDone else { return nil }
    (self.body, end, trailers) = (body, position, Self.fields(reading.trailers))
  }

  private static func fields(_ fields: HeaderFields) -> [Answer.Field] {
    fields.indices.map {
      Answer.Field(
        name: Array(fields.buffer[fields.nameRange(at: $0)]), value: Array(fields.buffer[fields.valueRange(at: $0)]))
    }
  }

  /// What http-parser reads in another way; nil if nothing.
  func difference(from bytes: [UInt8]) -> String? {
    let (theirs, start) = Answer.httpParser(toRequest: bytes)
    if theirs.refusal != nil || hasLongerName { return nil }
    guard let head = theirs.heads.first else { return "no head" }
    if start != self.start { return "request line \(start)" }
    // http-parser keeps the blanks at the end of a value.
    let values = head.fields.map { field in
      Answer.Field(name: field.name, value: Array(field.value.reversed().drop { $0 == 0x20 || $0 == 0x09 }.reversed()))
    }
    if values != fields { return "fields \(head.fields.map(\.text))" }
    if head.isHTTP10 != isHTTP10 { return "another version" }
    if isLast { return nil }
    if theirs.body != body { return "body \(Answer.text(of: theirs.body))" }
    if theirs.end != .at(end) { return "end \(String(describing: theirs.end)) instead of \(end)" }
    return nil
  }

  /// http-parser takes a name that only begins with the name of such a field for that field.
  private var hasLongerName: Bool {
    let names = ["transfer-encoding", "content-length", "connection", "upgrade"]
    return (fields + trailers).contains { field in
      names.contains { field.lowercasedName != $0 && field.lowercasedName.hasPrefix($0) }
    }
  }
}
