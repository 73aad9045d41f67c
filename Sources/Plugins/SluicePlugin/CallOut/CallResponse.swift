public import SluiceJSON
import SluiceMessages

/// A whole response to a ``CallRequest``, whatever its status.
public struct CallResponse: Sendable {
  /// The status code of the response. 4xx and 5xx are responses too, not errors.
  public let status: Int
  /// Names in lower case.
  public let headers: [(name: String, value: String)]
  /// The decoded content, as bytes.
  public let body: [UInt8]

  /// The first value of a name, which is case-insensitive.
  public func header(_ name: String) -> String? {
    let name = name.lowercased()
    return headers.first { $0.name == name }?.value
  }

  /// The body as JSON.
  public func json() throws(StageFailure) -> JSONValue {
    do { return try JSONValue(parsing: body) } catch {
      throw StageFailure(code: "invalid_response", message: "the response is not JSON: \(error.message)")
    }
  }

  init(_ document: JSONValue) {
    status = Int(document["status"]?.integer ?? 0)
    headers =
      document["headers"]?.members.flatMap { name, value in
        Self.values(value).map { (name: name, value: $0) }
      } ?? []
    let body = document["body"]
    self.body = body?["text"]?.withStringBytes { [UInt8]($0) } ?? body?["base64"].flatMap(Self.decoded) ?? []
  }

  private static func values(_ value: JSONValue) -> [String] {
    value.isArray ? value.elements.compactMap(text) : [text(value)].compactMap(\.self)
  }

  /// Bytes that are not UTF-8 come as base64; invalid parts become U+FFFD here.
  private static func text(_ value: JSONValue) -> String? {
    value.string ?? value["base64"].flatMap(decoded).map { String(decoding: $0, as: UTF8.self) }
  }

  private static func decoded(_ value: JSONValue) -> [UInt8]? {
    value.withStringBytes { Base64.decode($0.span) } ?? nil
  }
}
