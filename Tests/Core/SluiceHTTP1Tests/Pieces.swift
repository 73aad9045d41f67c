import SluiceMessages

@testable import SluiceHTTP1

/// The sizes of the pieces in which the bytes of a test arrive. The result must be the same for each size.
let pieceSizes = [1, 2, 3, 7, 8, 9, 64, Int.max]

/// What our parser has read of a response.
struct Reading: Equatable {
  var statuses: [Int] = []
  var version = HTTPVersion.http11
  var fields: [String] = []
  var framing: ResponseFraming.Body?
  var endsConnection = false
  var contradictsNoBody = false
  var body = ""
  var trailers: [String] = []
  /// The bytes after the response.
  var rest = ""
  var isComplete = false
}

/// Reads a response that arrives in pieces of one size.
func read(
  _ text: String, pieceSize: Int, method: String = "GET", _ limits: MessageLimits = MessageLimits()
) throws(MessageViolation) -> Reading {
  var reading = Reading()
  let head = ResponseHead(limits)
  head.begin(isAnswerToHead: method == "HEAD")
  var body: ReceivedBody?
  var held: [UInt8] = []
  var left = Array(text.utf8)[...]
  while !left.isEmpty {
    held += left.prefix(pieceSize)
    left = left.dropFirst(pieceSize)
    while body == nil, try head.read(held.span) {
      reading.statuses.append(head.status)
      reading.fields = lines(of: head.takeFields(from: held.span))
      held.removeFirst(head.byteCount)
      if head.isInformational { head.beginNext() } else { body = ReceivedBody(head.body, limits) }
    }
    guard body != nil else { continue }
    var position = 0
    while let piece = try body?.next(in: held.span, at: &position) {
      reading.body += String(decoding: held[piece], as: UTF8.self)
    }
    held.removeFirst(position)
    // The bytes after the response must not be read.
    if body?.isDone == true {
      reading.rest = String(decoding: held + left, as: UTF8.self)
      break
    }
  }
  if let body {
    reading.version = head.version
    reading.framing = head.body
    reading.endsConnection = head.endsConnection
    reading.contradictsNoBody = head.contradictsNoBody
    reading.trailers = lines(of: body.trailers)
    reading.isComplete = body.isDone
  }
  return reading
}

/// Reads a response in pieces of every size, and returns the distinct results. There should be one. Bytes that do not
/// begin like HTTP are refused at once, with a reason that quotes only the bytes that have arrived. This reason depends
/// on the size and is left out.
func readings(
  _ text: String, method: String = "GET", _ limits: MessageLimits = MessageLimits()
) -> Set<Result<String, MessageViolation>> {
  Set(
    pieceSizes.map { size in
      do throws(MessageViolation) {
        return .success("\(try read(text, pieceSize: size, method: method, limits))")
      } catch {
        return .failure(error.kind == .notHTTP ? MessageViolation(.notHTTP, "") : error)
      }
    })
}

func lines(of fields: HeaderFields) -> [String] { fields.map { "\($0.name): \($0.value)" } }
