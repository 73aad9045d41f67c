import SluiceMessages
import SluicePlugin

/// The body of an answer of the token endpoint.
extension CallResponse {
  /// The body as JSON, without a byte order mark. If an integer has more than 64 bits, as a lifetime can have, all
  /// integers are read as real numbers.
  func document() throws(JSONError) -> JSONValue {
    let text = body.withoutByteOrderMark
    do { return try JSONValue(parsing: text) } catch {
      guard error.code == .numberOutOfRange else { throw error }
      return try JSONValue(parsing: text, options: .integersAsReals)
    }
  }

  /// The fields of an answer that is a form and not JSON, as some servers send it.
  var form: [String: String] {
    guard body.count <= FormBody.readBytes else { return [:] }
    return FormBody.decode(body)
  }
}
