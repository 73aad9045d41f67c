import CJansson
import Glibc
package import SluiceMessages
import SluiceSupport

/// The `body` of a document: absent, or one of
///
///     {"text": "…"}                 valid UTF-8 without NUL
///     {"base64": "…"}               any other bytes
///     {"json": …}                   the parsed content of a JSON media type, if requested
///     {"file": "…", "bytes": n}     a body in a file
///
/// If parsed content was requested and the content of a JSON media type cannot be parsed, the document has
/// `"unreadable": "why"` next to `text`, `base64` or `file`. The member describes the body and is not part of it: it is
/// ignored when the document is read back.
///
/// A streamed body has no form: its member is absent. If the member stays absent, the body does not change.
package enum BodyDocument {
  /// How a new document represents the body.
  package enum Filling: Sendable {
    /// The document has no `body` member, whatever the body is.
    case none
    /// As text, base64 or file.
    case plain
    /// As `json` if the media type is JSON and the content parses; otherwise as with ``plain``.
    case parsed
  }

  /// Puts the body into a document that has none yet, or parses the text in the document.
  ///
  /// Content that does not parse, or that has a duplicate key, U+0000 or a number out of range, stays text and is
  /// marked `unreadable`, so that nothing is lost. A body that a stage has set stays unchanged, except that text or
  /// base64 can become `json`.
  ///
  /// - Parameter fileLimitBytes: the maximum size of a file whose content is parsed. A larger file stays `file`.
  /// - Returns: the text that has become `json`; nil if none has.
  @discardableResult
  package static func fill(
    _ document: JSONValue, from body: Body, _ filling: Filling, fileLimitBytes: Int = 0
  ) -> [UInt8]? {
    guard filling != .none else { return nil }
    let wantsJSON = filling == .parsed && hasJSONMediaType(document)
    if let present = document["body"] { return wantsJSON ? parse(present, body, fileLimitBytes) : nil }
    guard let made = make(body, parsing: wantsJSON) else { return nil }
    document["body"] = made
    if wantsJSON, case .file(let file) = body { return parse(file, into: made, fileLimitBytes) }
    return made["json"] == nil ? nil : body.bytes
  }

  static func make(_ body: Body, parsing: Bool) -> JSONValue? {
    switch body {
    case .empty, .stream: nil
    case .bytes(let bytes): bytes.isEmpty ? nil : make(bytes, parsing: parsing)
    case .file(let file):
      parsing && file.byteCount == 0
        ? nil : ["file": JSONValue(file.path), "bytes": JSONValue(Int64(file.byteCount))] as JSONValue
    }
  }

  /// Replaces the file by its parsed content, and returns the content; otherwise marks the file `unreadable`. Only reads
  /// a file that is as small as a body that is held in memory.
  private static func parse(_ file: FileBody, into form: JSONValue, _ limitBytes: Int) -> [UInt8]? {
    guard file.byteCount <= limitBytes else {
      form["unreadable"] = tooLarge
      return nil
    }
    let content = FileDescriptor(opening: file.path, O_RDONLY | O_NONBLOCK | O_NOCTTY)?.readAll(
      capacity: file.byteCount)
    guard let content, content.count == file.byteCount else {
      form["unreadable"] = "it is in a file, which cannot be read"
      return nil
    }
    guard content.withUnsafeBytes({ parse($0, into: form) }) else { return nil }
    form["file"] = nil
    form["bytes"] = nil
    return content
  }

  private static var tooLarge: JSONValue {
    "it is in a file, and has more bytes than are held in memory (see transport.spillBytes)"
  }

  static func make(_ bytes: [UInt8], parsing: Bool) -> JSONValue {
    let form = JSONValue.object()
    bytes.withUnsafeBufferPointer { bytes in
      if parsing, parse(UnsafeRawBufferPointer(bytes), into: form) { return }
      if !hasNUL(bytes), let text = DocumentText.string(bytes) {
        form["text"] = JSONValue(adopting: text)
      } else {
        form["base64"] = JSONValue(String(decoding: Base64.encode(bytes.span), as: UTF8.self))
      }
    }
    return form
  }

  /// Parses content that the document has as text or base64, or in the file of the native body, and returns it.
  private static func parse(_ form: JSONValue, _ native: Body, _ fileLimitBytes: Int) -> [UInt8]? {
    for key in ["text", "base64"] {
      guard let member = form[key] else { continue }
      let text = member.withStringBytes { key == "text" ? Array($0) : Base64.decode($0.span) } ?? nil
      guard let text, text.withUnsafeBytes({ parse($0, into: form) }) else { return nil }
      form[key] = nil
      return text
    }
    guard let path = form["file"]?.string else { return nil }
    // A file that a stage has named is not read.
    if case .file(let file) = native, file.path == path { return parse(file, into: form, fileLimitBytes) }
    form["unreadable"] = tooLarge
    return nil
  }

  /// Adds `json` to the body's object, or `unreadable` with the reason why the content cannot be parsed. Returns
  /// whether it can be parsed.
  private static func parse(_ bytes: UnsafeRawBufferPointer, into form: JSONValue) -> Bool {
    do {
      form["json"] = try JSONValue(parsing: bytes, options: .rejectDuplicates)
      form["unreadable"] = nil
      return true
    } catch {
      form["unreadable"] = JSONValue(reason(error))
      return false
    }
  }

  /// Does not quote the body: a body may contain secrets, and the reason is logged.
  private static func reason(_ error: JSONError) -> String {
    let what =
      switch error.code {
      case .numberOutOfRange: "an integer of more than 64 bits, or a number too large for a double"
      case .duplicateKey: "a duplicate member"
      case .nul: "U+0000 in a string"
      case .invalidUTF8: "not UTF-8"
      case .tooDeep: "nested deeper than \(JSONValue.depthLimit) levels"
      case .truncated: "not JSON: it ends too early"
      default: "not JSON"
      }
    return "line \(error.line ?? 1), column \(error.column ?? 1): \(what)"
  }

  static func hasNUL(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let start = bytes.baseAddress else { return false }
    return memchr(start, 0, bytes.count) != nil
  }

  /// Whether the document's content type is `application/json` or ends in `+json` (RFC 6839 §3.1).
  private static func hasJSONMediaType(_ document: JSONValue) -> Bool {
    let headers = DocumentHeaders(document)
    // One field line that says JSON is enough, because the receiver of the message may use that line.
    let lines = (0...).lazy.map { headers.value(named: "content-type", line: $0) }.prefix { $0 != nil }
    return lines.contains { $0.map(isJSONMediaType) ?? false }
  }

  /// Whether a content type, with or without parameters, is JSON.
  package static func isJSONMediaType(_ contentType: String) -> Bool {
    let type = contentType.prefix { $0 != ";" && $0 != " " && $0 != "\t" }.lowercased()
    return type == "application/json" || type.hasSuffix("+json")
  }
}

extension BodyDocument {
  private static let forms = ["text", "base64", "json", "file"]

  /// Reads the body of a document.
  ///
  /// - Parameter parsed: the text that became `json`, which is kept if the value has not changed since.
  static func read(_ part: DocumentPart, original: Body, parsed: [UInt8]?) throws(MessageError) -> Body {
    try part.allowKeys(forms + ["bytes", "unreadable"])
    let present = forms.filter { part.json[$0] != nil }
    guard present.count == 1, let form = present.first else {
      throw part.failure(
        "expected one of \(forms.joined(separator: ", ")), found \(present.isEmpty ? "none" : "several")")
    }
    switch form {
    case "json": return .bytes(try serialized(part, parsed))
    case "base64": return .bytes(try decoded(part))
    case "file": return try file(part, original: original)
    default: return .bytes(Array(try part.string("text")?.utf8 ?? "".utf8))
    }
  }

  /// The text of a `json` body: the text that it was parsed from, if the value has not changed since. So spaces, and the
  /// spelling of numbers and escapes, stay as the sender wrote them.
  package static func text(of value: JSONValue, parsed: [UInt8]?) throws(JSONError) -> [UInt8] {
    let text = try value.serialized()
    guard let parsed, parsed != text, let before = try? JSONValue(parsing: parsed).serialized() else { return text }
    return before == text ? parsed : text
  }

  private static func serialized(_ part: DocumentPart, _ parsed: [UInt8]?) throws(MessageError) -> [UInt8] {
    do {
      return try part.json["json"].map { (value) throws(JSONError) in try text(of: value, parsed: parsed) } ?? []
    } catch {
      throw part.failure(at: "json", error.message)
    }
  }

  private static func decoded(_ part: DocumentPart) throws(MessageError) -> [UInt8] {
    let text = try part.string("base64") ?? ""
    guard let bytes = Base64.decode(Array(text.utf8)) else {
      throw part.failure(at: "base64", "not base64: expected the standard alphabet with padding, without white space")
    }
    return bytes
  }

  /// Returns the file that the document names, or its content if the system does not know its size. If it is the file of
  /// the original body, returns the same `FileBody` object, because a temporary file is removed when the last user of
  /// this object releases it.
  private static func file(_ part: DocumentPart, original: Body) throws(MessageError) -> Body {
    let path = try part.string("file") ?? ""
    if case .file(let file) = original, file.path == path { return original }
    guard part.rules.contains(.files) else { throw part.failure(at: "file", "files are not allowed here") }
    do throws(UploadSource.Failure) {
      switch try UploadSource(at: path) {
      case .file(let byteCount): return .file(FileBody(path: path, byteCount: byteCount))
      case .content(let bytes): return .bytes(bytes)
      }
    } catch {
      switch error {
      case .notRegular: throw part.failure(at: "file", "\(PlainText.path(path)) is not a regular file")
      default: throw part.failure(at: "file", "cannot read \(PlainText.path(path)): \(error.text)")
      }
    }
  }
}
