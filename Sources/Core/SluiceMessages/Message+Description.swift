// Headers and bodies often contain secrets, so texts for logs leave them out.

extension Request: CustomStringConvertible, CustomDebugStringConvertible {
  /// `GET https://example.com/items`: the method and the URL, without user, query, headers and body.
  public var description: String { "\(method) \(url.origin)\(url.path)" }

  /// The same as ``description``.
  public var debugDescription: String { description }
}

extension Response: CustomStringConvertible, CustomDebugStringConvertible {
  /// `200 with 120 bytes`: the status and the size of the body, if it is known.
  public var description: String { "\(status)" + (body.byteCount.map { " with \($0) bytes" } ?? "") }

  /// The same as ``description``.
  public var debugDescription: String { description }
}
