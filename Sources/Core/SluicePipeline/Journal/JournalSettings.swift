package import SluiceMessages

/// How a journal shows the content of messages.
package struct JournalSettings: Sendable {
  /// Text up to this size is shown; for larger content, size and hash are shown.
  static let shownBytes = 256
  /// The maximum number of bytes that are shown of a field value.
  static let shownValueBytes = 1024

  private static let processKey = MessageHash.Key.random()

  package var secrets: Redactor
  /// The key for hashes of secrets. Journals with the same key can be compared.
  package var key: MessageHash.Key
  /// Returns the hash of a body's file; nil if the file cannot be read. Without this function, a journal performs no I/O
  /// and shows only the sizes of files.
  private var hashFile: (@Sendable (FileBody) -> UInt64?)?

  package init(
    secrets: Redactor = Redactor(), key: MessageHash.Key? = nil,
    hashFile: (@Sendable (FileBody) -> UInt64?)? = nil
  ) {
    self.secrets = secrets
    self.key = key ?? Self.processKey
    self.hashFile = hashFile
  }

  /// The values of all fields of a name.
  func values(of name: String, in fields: HeaderFields) -> [String] {
    fields.indices.filter { FieldSyntax.equals(fields.buffer.span.extracting(fields.nameRange(at: $0)), text: name) }
      .map { value(at: $0, named: name, in: fields) }
  }

  private func value(at index: Int, named name: String, in fields: HeaderFields) -> String {
    let bytes = fields.buffer[fields.valueRange(at: index)]
    if fields.marks(at: index).contains(.sensitive) { return hidden(Redactor.placeholder, bytes) }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      return hidden(secrets.value(fields.value(at: index), ofHeader: name), bytes)
    }
    let shown = secrets.value(text, ofHeader: name)
    if shown != text { return hidden(shown, bytes) }
    guard bytes.count > Self.shownValueBytes else { return text }
    return hidden(String(decoding: bytes.prefix(Self.shownValueBytes), as: UTF8.self) + "…", bytes)
  }

  /// A URL with secrets replaced.
  package func text(of url: HTTPURL) -> String {
    let shown = secrets.url(url.string)
    return shown == url.string ? shown : hidden(shown, url.string.utf8)
  }

  /// The text that is shown in place of the bytes, followed by a hash of the bytes, so that a change of the bytes is
  /// visible.
  private func hidden(_ shown: String, _ bytes: some Sequence<UInt8>) -> String {
    var hash = MessageHash(key: key)
    hash.update(bytes)
    return "\(shown) [\(hash.finish().hexadecimal(digits: 8))]"
  }

  /// A description of a body; empty for an empty body.
  func texts(of body: Body) -> [String] {
    switch body {
    case .empty: return []
    case .bytes(let bytes):
      var digest = BodyDigest()
      digest.update(bytes)
      return digest.texts
    case .file(let file):
      let hash =
        hashFile.map { $0(file).map { ", hash \($0.hexadecimal(digits: 16))" } ?? " that cannot be read" } ?? ""
      return ["\(file.byteCount) bytes in a file\(hash)"]
    case .stream(let stream): return [stream.byteCount.map { "a stream of \($0) bytes" } ?? "a stream"]
    }
  }
}

/// The part of a streamed body that the journal remembers.
struct BodyDigest {
  private var count = 0
  private var hash = MessageHash()
  private var beginning: [UInt8] = []

  mutating func update(_ bytes: [UInt8]) {
    count += bytes.count
    hash.update(bytes)
    let room = JournalSettings.shownBytes + 1 - beginning.count
    if room > 0 { beginning += bytes.prefix(room) }
  }

  /// A small text in quotation marks; the size and hash of anything else; empty for no bytes.
  var texts: [String] {
    if count == 0 { return [] }
    if count <= JournalSettings.shownBytes, let text = String(validating: beginning, as: UTF8.self), isPrintable(text) {
      return ["\"\(text)\""]
    }
    return ["\(count) bytes, hash \(hash.finish().hexadecimal(digits: 16))"]
  }

  private func isPrintable(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy { $0 == "\n" || $0 == "\r" || $0 == "\t" || ($0.value >= 0x20 && $0.value != 0x7f) }
  }
}
