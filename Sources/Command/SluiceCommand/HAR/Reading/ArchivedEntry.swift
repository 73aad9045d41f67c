import SluiceIDNA
import SluiceJSON
import SluiceMessages

/// Turns the request of an entry into a request document.
struct ArchivedEntry {
  /// Headers and cookies that were left out because their value in the archive is only `REDACTED`.
  private(set) var hiddenCount = 0
  private let request: ArchivePart
  private var headers: [(name: String, value: String)] = []

  /// - Parameter request: the member `request` of the entry.
  init(_ request: ArchivePart) { self.request = request }

  /// The scheme of an entry that is not sent, such as `data` or `ws`. Nil for http and https. Also nil for a text
  /// without a scheme, which is an invalid URL and is reported later.
  static func foreignScheme(_ url: String) -> String? {
    guard RelativeReference.hasScheme(url) else { return nil }
    let scheme = url.prefix { $0 != ":" }.lowercased()
    return scheme == "http" || scheme == "https" ? nil : scheme
  }

  mutating func document() throws(ArchiveMistake) -> JSONValue {
    let document = JSONValue.object()
    document["method"] = JSONValue(try method())
    let url = try url()
    document["url"] = JSONValue(url.string)
    try readHeaders(for: url)
    let body = try ArchivedBody(request)
    if let type = body?.mediaType, !type.isEmpty, !headers.contains(where: { $0.name == "content-type" }) {
      try append("content-type", type, at: "\(request.path).postData.mimeType")
    }
    document["headers"] = headersDocument
    document["body"] = body?.document
    return document
  }

  private func method() throws(ArchiveMistake) -> String {
    let method = try request.string("method")
    do { try Request.check(method: method.utf8.span) } catch { throw mistake("method", "\(error)") }
    return method
  }

  private func mistake(_ member: String, _ reason: String) -> ArchiveMistake {
    ArchiveMistake(message: "\(request.path).\(member): \(reason)")
  }

  /// The URL without its fragment, which is never sent.
  private func url() throws(ArchiveMistake) -> HTTPURL {
    let text = try request.string("url").prefix { $0 != "#" }
    let url: HTTPURL
    do { url = try HTTPURL(String(text), hosts: .idna) } catch { throw mistake("url", "\(error)") }
    let hasHiddenUser = url.userInfo?.contains(Redactor.placeholder) == true
    guard !hasHiddenUser, !FormText.hasHiddenValue(url.query ?? "") else {
      throw mistake("url", "a secret in it was replaced by \(Redactor.placeholder); put the secret back")
    }
    return url
  }

  // MARK: Headers

  private mutating func readHeaders(for url: HTTPURL) throws(ArchiveMistake) {
    for (part, field) in try request.pairs("headers") {
      let name = field.name.lowercased()
      if Self.isLeftOut(name, field.value, url) { continue }
      guard !field.value.contains(Redactor.placeholder) else {
        hiddenCount += 1
        continue
      }
      try append(name, field.value, at: part.path)
    }
    let hasCookie = try request.pairs("headers").contains { $0.pair.name.lowercased() == "cookie" }
    if !hasCookie { try readCookies() }
  }

  /// Whether a header is left out: a pseudo field of HTTP/2, or a field that the transport writes itself.
  private static func isLeftOut(_ name: String, _ value: String, _ url: HTTPURL) -> Bool {
    if name.hasPrefix(":") || FieldSyntax.isTransportField(name.utf8.span) || name == "http2-settings" { return true }
    return name == "host" && value.lowercased() == url.hostField
  }

  private mutating func readCookies() throws(ArchiveMistake) {
    let cookies = try request.pairs("cookies")
    let known = cookies.filter { $0.pair.value != Redactor.placeholder }
    hiddenCount += cookies.count - known.count
    guard !known.isEmpty else { return }
    let value = known.map { "\($0.pair.name)=\($0.pair.value)" }.joined(separator: "; ")
    try append("cookie", value, at: "\(request.path).cookies")
  }

  private mutating func append(_ name: String, _ value: String, at path: String) throws(ArchiveMistake) {
    do { try HeaderFields.check(name: name.utf8.span, value: value.utf8.span) } catch {
      throw ArchiveMistake(message: "\(path): \(error)")
    }
    headers.append((name, value))
  }

  private var headersDocument: JSONValue {
    let document = JSONValue.object()
    for (name, value) in headers {
      if document[name] == nil { document[name] = .array() }
      document[name]?.append(JSONValue(value))
    }
    return document
  }
}
