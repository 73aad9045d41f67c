import SluiceJSON
import SluiceJSONSchema
import SluiceMessages
import SluicePipeline

extension Configuration {
  /// The checks of every response; nil if only its status is checked.
  var responseChecks: ResponseChecks? {
    switch extract {
    case .raw: return nil
    case .text:
      return ResponseChecks(
        extract: { response, method throws(TransactionError) in
          response.hasContent(for: method) ? try response.text() : nil
        })
    case .json:
      return ResponseChecks(
        extract: { response, method throws(TransactionError) in
          response.hasContent(for: method) ? try response.json() : nil
        }, validatePayload: payloadSchema.map(Self.check))
    }
  }

  private static func check(_ schema: JSONSchema) -> ResponseChecks.ValidatePayload {
    { payload throws(TransactionError) in try check(payload, schema) }
  }

  private static func check(_ payload: any Sendable, _ schema: JSONSchema) throws(TransactionError) {
    guard let value = payload as? JSONValue else { return }
    do { try schema.check(value) } catch {
      let place = error.pointer?.tokens.isEmpty == false ? "" : "the whole payload: "
      throw TransactionError(
        code: .payload,
        message: "the payload is not what validate.payloadSchema allows: \(place)\(error.message)")
    }
  }
}

extension Response {
  /// Whether a response with this status can have content if the request had this method (RFC 9110 §6.4.1).
  fileprivate func hasContent(for method: String) -> Bool {
    method != "HEAD" && status != 204 && status != 205 && status != 304
  }
}
