import SluiceJSON
import SluiceMessages
import SluicePipeline

/// The live document of one message, between the plugins that change it and the native form.
final class LiveDocument: MessageDocument {
  let json: JSONValue
  /// Whether the body member was asked for; if not, a missing one means that the body is as it was.
  var isBodyFilled = false
  /// Names that were marked as secret, which a document cannot say.
  private var sensitiveNames: [[UInt8]] = []
  /// Who wrote last, to be counted when the document turns out invalid.
  var writer: HostSeat?

  init(_ json: JSONValue) { self.json = json }

  func markSensitive(_ name: UnsafeBufferPointer<UInt8>) { sensitiveNames.append(Array(name)) }

  func request(from original: Request) throws(MessageError) -> Request {
    var request = original
    do throws(MessageError) {
      try RequestDocument.update(&request, from: json, bodyWasFilled: isBodyFilled)
      try Self.checkFields(request.headers, against: original.headers)
    } catch { throw reported(error) }
    applyMarks(to: &request.headers)
    return request
  }

  func response(from original: Response) throws(MessageError) -> Response {
    var response = original
    do throws(MessageError) {
      try ResponseDocument.update(&response, from: json, bodyWasFilled: isBodyFilled, added: [])
    } catch { throw reported(error) }
    applyMarks(to: &response.headers)
    return response
  }

  /// A document is no way around the rule for hop-by-hop fields; what was there before may stay.
  private static func checkFields(_ fields: HeaderFields, against original: HeaderFields) throws(MessageError) {
    for index in fields.indices {
      let name = fields.buffer.span.extracting(fields.nameRange(at: index))
      guard FieldSyntax.isHopByHop(name), original.firstIndex(named: name) == nil else { continue }
      throw MessageError(
        .invalidHeader, "header \"\(fields.name(at: index))\"", "a hop-by-hop field is not a stage's to set")
    }
  }

  private func applyMarks(to headers: inout HeaderFields) {
    for name in sensitiveNames { headers.mark(named: name.span, .sensitive) }
  }

  private func reported(_ error: MessageError) -> MessageError {
    writer?.report(.invalidDocument, error.description)
    return error
  }
}

extension HeaderFields {
  /// Marks all fields of the name; false where there is none.
  @discardableResult
  mutating func mark(named name: Span<UInt8>, _ marks: Marks) -> Bool {
    var next = firstIndex(named: name)
    let isThere = next != nil
    while let index = next {
      mark(at: index, marks)
      next = firstIndex(named: name, from: index + 1)
    }
    return isThere
  }
}
