import Sluice
import SluiceJSON
import SluiceMessages
import SluicePipeline

/// Result lines.
enum ResultText {
  /// - Parameters:
  ///   - line: the number of the request line.
  ///   - mask: hides secrets of the metadata; nil leaves it out.
  static func line(
    _ result: TransactionResult, id: ResultID, line: Int? = nil, metadata mask: SecretMask? = nil
  ) throws -> [UInt8] {
    let failure = result.error.map { ResultDocument.Failure($0) }
    return try ResultDocument(
      id: id, lineNumber: line, response: try result.response.map(whole), failure: failure,
      attempts: result.attempts, duration: result.duration, requestID: result.requestID,
      attributes: JSONValue.shown(result.attributes), metadata: mask.map { ResultMetadata.make(result, $0) },
      explanation: result.explanation.map(ExplanationDocument.make)
    ).line()
  }

  static func line(invalidRequest message: String, id: ResultID, line: Int) throws -> [UInt8] {
    let failure = ResultDocument.Failure(code: "invalid_request", message: message)
    return try ResultDocument(id: id, lineNumber: line, failure: failure, attempts: 0, duration: .zero).line()
  }

  /// A body in a file is read, because the file is removed with the result.
  private static func whole(_ response: Response) throws -> Response {
    guard case .file(let file) = response.body else { return response }
    var response = response
    response.body = .bytes(try FileContent.read(file))
    return response
  }
}
