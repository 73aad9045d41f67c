package import SluiceMessages

/// A request line of the usual form, read in one pass over its bytes without a document.
///
/// Reads only a line that cannot be misread: each member of a request line occurs at most once, strings are ASCII
/// without escapes, and the id is spelled as a result spells it. For any other line, valid or not, the initializer
/// returns nil. ``RequestLine`` then reads the line, or reports the mistake in it.
package struct PlainRequestLine {
  /// Nil if the line has no id.
  package let id: ResultID?
  package private(set) var request: Request

  /// - Parameter sibling: the URL of an earlier line. Reading takes less time if both URLs have the same beginning.
  package init?(_ text: UnsafeRawBufferPointer, sibling: HTTPURL? = nil) {
    var scanner = PlainScanner(text)
    var members = Members()
    guard scanner.object({ $0.member($1, of: &members) }), scanner.isAtEnd, let url = members.url else { return nil }
    guard let target = sibling?.sibling(url.span) ?? Self.absolute(url) else { return nil }
    var headers = HeaderFields()
    for (name, value) in members.headers {
      guard (try? HeaderFields.check(name: name.span, value: value.span)) != nil else { return nil }
      headers.append(name.span, value.span)
    }
    request = Request(url: target, headers: headers)
    if let method = members.method { request.method = Self.string(method) }
    if let body = members.body { request.body = .bytes(Array(body)) }
    if let timeout = members.timeout {
      guard let duration = DurationText.duration(Self.string(timeout)), duration > .zero else { return nil }
      request.timeout = duration
    }
    guard (try? Request.check(method: request.method.utf8.span)) != nil else { return nil }
    guard headers.isEmpty || (try? headers.validateHost()) != nil else { return nil }
    id = members.id.map { ResultID(text: Array($0)) }
  }

  /// Reads a URL that begins with `http://` or `https://` in lower case. Such a URL needs no base URL.
  private static func absolute(_ url: UnsafeBufferPointer<UInt8>) -> HTTPURL? {
    guard PlainScanner.begins(url, with: "http://") || PlainScanner.begins(url, with: "https://") else { return nil }
    return try? HTTPURL(string(url))
  }

  private static func string(_ text: UnsafeBufferPointer<UInt8>) -> String { String(decoding: text, as: UTF8.self) }
}

/// The values of the members, as parts of the line.
private struct Members {
  /// The id; a string includes its quotes.
  var id: UnsafeBufferPointer<UInt8>?
  var method: UnsafeBufferPointer<UInt8>?
  var url: UnsafeBufferPointer<UInt8>?
  var timeout: UnsafeBufferPointer<UInt8>?
  var headers: [(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>)] = []
  var hasHeaders = false
  var body: UnsafeBufferPointer<UInt8>?
}

/// Reads JSON without escapes. Each function returns nil or false if the text at this place is something else.
private struct PlainScanner {
  private let text: UnsafeBufferPointer<UInt8>
  private var index = 0
  /// The number of headers is limited, because the search for duplicate names takes longer with each header.
  private static let maximumHeaders = 32

  init(_ text: UnsafeRawBufferPointer) { self.text = text.assumingMemoryBound(to: UInt8.self) }

  var isAtEnd: Bool {
    mutating get {
      skipSpace()
      return index == text.count
    }
  }

  /// - Parameter member: reads the value of a key.
  mutating func object(_ member: (inout PlainScanner, UnsafeBufferPointer<UInt8>) -> Bool) -> Bool {
    guard take(UInt8(ascii: "{")) else { return false }
    repeat {
      guard let key = string(), take(UInt8(ascii: ":")), member(&self, key) else { return false }
    } while take(UInt8(ascii: ","))
    return take(UInt8(ascii: "}"))
  }

  mutating func member(_ key: UnsafeBufferPointer<UInt8>, of members: inout Members) -> Bool {
    if Self.equals(key, "id") { return once(&members.id) { $0.scalar() } }
    if Self.equals(key, "url") { return once(&members.url) { $0.string() } }
    if Self.equals(key, "method") { return once(&members.method) { $0.string() } }
    if Self.equals(key, "timeout") { return once(&members.timeout) { $0.string() } }
    if Self.equals(key, "headers") { return headers(of: &members) }
    if Self.equals(key, "body") { return once(&members.body) { $0.textBody() } }
    return false
  }

  private mutating func once(
    _ value: inout UnsafeBufferPointer<UInt8>?, _ read: (inout PlainScanner) -> UnsafeBufferPointer<UInt8>?
  ) -> Bool {
    guard value == nil, let found = read(&self) else { return false }
    value = found
    return true
  }

  private mutating func headers(of members: inout Members) -> Bool {
    guard !members.hasHeaders else { return false }
    members.hasHeaders = true
    return object { scanner, name in
      guard members.headers.count < Self.maximumHeaders, let value = scanner.string(),
        !members.headers.contains(where: { $0.name.elementsEqual(name) })
      else { return false }
      members.headers.append((name, value))
      return true
    }
  }

  private mutating func textBody() -> UnsafeBufferPointer<UInt8>? {
    var body: UnsafeBufferPointer<UInt8>?
    guard object({ Self.equals($1, "text") && $0.once(&body) { $0.string() } }) else { return nil }
    return body
  }

  /// A string with its quotes, or an integer of at most 18 digits that is not negative.
  private mutating func scalar() -> UnsafeBufferPointer<UInt8>? {
    skipSpace()
    let start = index
    guard index < text.count else { return nil }
    if text[index] == UInt8(ascii: "\"") {
      guard string() != nil else { return nil }
      return UnsafeBufferPointer(rebasing: text[start..<index])
    }
    while index < text.count, text[index] >= UInt8(ascii: "0"), text[index] <= UInt8(ascii: "9") { index &+= 1 }
    let count = index - start
    guard (1...18).contains(count), count == 1 || text[start] != UInt8(ascii: "0") else { return nil }
    return UnsafeBufferPointer(rebasing: text[start..<index])
  }

  /// The content of a string.
  private mutating func string() -> UnsafeBufferPointer<UInt8>? {
    guard take(UInt8(ascii: "\"")) else { return nil }
    let start = index
    while index < text.count {
      let byte = text[index]
      if byte == UInt8(ascii: "\"") {
        defer { index &+= 1 }
        return UnsafeBufferPointer(rebasing: text[start..<index])
      }
      guard byte >= 0x20, byte < 0x7F, byte != UInt8(ascii: "\\") else { return nil }
      index &+= 1
    }
    return nil
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    skipSpace()
    guard index < text.count, text[index] == byte else { return false }
    index &+= 1
    return true
  }

  private mutating func skipSpace() {
    while index < text.count, text[index] == 0x20 || text[index] == 0x09 { index &+= 1 }
  }

  private static func equals(_ text: UnsafeBufferPointer<UInt8>, _ word: StaticString) -> Bool {
    text.count == word.utf8CodeUnitCount && begins(text, with: word)
  }

  static func begins(_ text: UnsafeBufferPointer<UInt8>, with word: StaticString) -> Bool {
    guard text.count >= word.utf8CodeUnitCount else { return false }
    for index in 0..<word.utf8CodeUnitCount where text[index] != word.utf8Start[index] { return false }
    return true
  }
}
