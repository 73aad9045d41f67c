/// A body together with its media type. A message that gets such a body also gets its `content-type`.
///
/// `TypedBody.json(_:)` of SluiceJSON creates one from a value.
public struct TypedBody: Sendable {
  /// Sent unchanged. Nothing checks whether the content fits the media type.
  public var body: Body
  /// The value for the `content-type` of the message.
  public var contentType: String

  /// - Parameter contentType: a valid field value, such as `text/plain; charset=utf-8`; it is not checked here.
  public init(_ body: Body, contentType: String) {
    self.body = body
    self.contentType = contentType
  }
}

extension Request {
  /// A request with a body that names its media type, unless the headers have a content type.
  public init(
    method: String = "POST", url: HTTPURL, headers: HeaderFields = HeaderFields(), body: TypedBody,
    timeout: Duration? = nil
  ) {
    self.init(method: method, url: url, headers: headers, timeout: timeout)
    setBody(body)
  }

  /// Replaces the body, and names its media type unless the headers have a content type.
  public mutating func setBody(_ typed: TypedBody) {
    body = typed.body
    headers.nameMediaType(typed.contentType)
  }
}

extension Response {
  /// A response with a body that names its media type, unless the headers have a content type.
  public init(status: Int, headers: HeaderFields = HeaderFields(), body: TypedBody) {
    self.init(status: status, headers: headers)
    setBody(body)
  }

  /// Replaces the body, and names its media type unless the headers have a content type.
  public mutating func setBody(_ typed: TypedBody) {
    body = typed.body
    headers.nameMediaType(typed.contentType)
  }
}

extension HeaderFields {
  /// Adds the `content-type` of a body, unless the fields have one.
  package mutating func nameMediaType(_ contentType: String) {
    if !contains("content-type") { append("content-type", contentType) }
  }
}
