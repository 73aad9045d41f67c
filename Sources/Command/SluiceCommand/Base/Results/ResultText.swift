import Sluice
import SluiceJSON
import SluiceMessages
import SluicePipeline

/// Result lines.
enum ResultText {
  /// Writes a line. After a failure, a part of the line may have been written.
  /// - Parameters:
  ///   - line: the number of the request line.
  ///   - mask: hides secrets in the metadata. If it is nil, the line contains no metadata.
  ///   - parsesJSON: whether a body that is JSON is written as JSON, and not as text.
  static func append(
    _ result: TransactionResult, id: ResultID, line: Int? = nil, metadata mask: SecretMask? = nil,
    parsesJSON: Bool = false, to text: inout JSONText
  ) throws {
    try text.append(
      resultOf: id, line: line, response: try result.response.map(whole), parsesJSON: parsesJSON,
      failure: result.error.map { ResultDocument.Failure($0) }, attempts: result.attempts, duration: result.duration,
      requestID: result.givenRequestID.map { .given($0) } ?? .transaction(result.id),
      attributes: JSONValue.shown(result.attributes), metadata: mask.map { ResultMetadata.make(result, $0) },
      explanation: result.explanation.map(ExplanationDocument.make))
  }

  static func line(
    _ result: TransactionResult, id: ResultID, metadata mask: SecretMask?, parsesJSON: Bool
  ) throws -> [UInt8] {
    var text = JSONText(capacity: 1024)
    try append(result, id: id, metadata: mask, parsesJSON: parsesJSON, to: &text)
    return text.bytes
  }

  static func line(invalidRequest message: String, id: ResultID, line: Int) throws -> [UInt8] {
    let failure = ResultDocument.Failure(code: "invalid_request", message: message)
    return try ResultDocument(id: id, lineNumber: line, failure: failure, attempts: 0, duration: .zero).line()
  }

  /// Reads the content of a body that is in a file, because the file is removed with the result.
  private static func whole(_ response: Response) throws -> Response {
    guard case .file(let file) = response.body else { return response }
    var response = response
    response.body = .bytes(try FileContent.read(file))
    return response
  }
}
