import CJansson
import Glibc
public import SluiceMessages

/// The `body` of a document: absent, or one of
///
///     {"text": "…"}                 valid UTF-8 without NUL
///     {"base64": "…"}               any other bytes
///     {"json": …}                   the parsed content of a JSON media type, where that was asked for
///     {"file": "…", "bytes": n}     a body that lies in a file
///
/// A streamed body has no form: its member is absent, and absent it stays itself.
public enum BodyDocument {
  /// What becomes of the body when a document is made.
  public enum Filling: Sendable {
    /// Left out, whatever it is.
    case none
    /// As text, base64 or file.
    case plain
    /// As `json` where the media type is JSON and the content parses, else as with ``plain``.
    case parsed
  }

  /// Puts the body into a document that has none so far, or parses the text that is there.
  ///
  /// Content that does not parse, holds a key twice, U+0000 or an integer beyond 64 bits stays text, so that nothing is
  /// lost. A body that a stage has put there is left as it is, save that text may become `json`.
  public static func fill(_ document: JSONValue, from body: Body, _ filling: Filling) {
    guard filling != .none else { return }
    let wantsJSON = filling == .parsed && hasJSONMediaType(document)
    if let present = document["body"] {
      if wantsJSON { parse(present) }
    } else if let made = make(body, parsing: wantsJSON) {
      document["body"] = made
    }
  }

  static func make(_ body: Body, parsing: Bool) -> JSONValue? {
    switch body {
    case .empty, .stream: nil
    case .bytes(let bytes): bytes.isEmpty ? nil : make(bytes, parsing: parsing)
    case .file(let file): ["file": JSONValue(file.path), "bytes": JSONValue(Int64(file.byteCount))]
    }
  }

  private static func make(_ bytes: [UInt8], parsing: Bool) -> JSONValue {
    let form = JSONValue.object()
    bytes.withUnsafeBufferPointer { bytes in
      if parsing, let parsed = try? JSONValue(parsing: UnsafeRawBufferPointer(bytes), options: .rejectDuplicates) {
        form["json"] = parsed
      } else if !hasNUL(bytes), let text = DocumentText.string(bytes) {
        form["text"] = JSONValue(adopting: text)
      } else {
        form["base64"] = JSONValue(String(decoding: Base64.encode(UnsafeRawBufferPointer(bytes)), as: UTF8.self))
      }
    }
    return form
  }

  private static func parse(_ form: JSONValue) {
    let parsed = form["text"]?.withStringBytes {
      try? JSONValue(parsing: UnsafeRawBufferPointer($0), options: .rejectDuplicates)
    }
    guard let parsed = parsed ?? nil else { return }
    form["text"] = nil
    form["json"] = parsed
  }

  private static func hasNUL(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let start = bytes.baseAddress else { return false }
    return memchr(start, 0, bytes.count) != nil
  }

  /// Whether the document's content type is `application/json` or ends in `+json` (RFC 6839 §3.1).
  private static func hasJSONMediaType(_ document: JSONValue) -> Bool {
    guard let type = DocumentHeaders(document)["content-type"] else { return false }
    return isJSONMediaType(type)
  }

  /// Whether a content type, with or without parameters, says JSON.
  public static func isJSONMediaType(_ contentType: String) -> Bool {
    let type = contentType.prefix { $0 != ";" && $0 != " " && $0 != "\t" }.lowercased()
    return type == "application/json" || type.hasSuffix("+json")
  }
}

extension BodyDocument {
  private static let forms = ["text", "base64", "json", "file"]

  /// The body that a document spells out.
  static func read(_ part: DocumentPart, original: Body) throws(MessageError) -> Body {
    try part.allowKeys(forms + ["bytes"])
    let present = forms.filter { part.json[$0] != nil }
    guard present.count == 1, let form = present.first else {
      throw part.failure(
        "expected one of \(forms.joined(separator: ", ")), found \(present.isEmpty ? "none" : "several")")
    }
    switch form {
    case "json": return .bytes(try serialized(part))
    case "base64": return .bytes(try decoded(part))
    case "file": return .file(try file(part, original: original))
    default: return .bytes(Array(try part.string("text")?.utf8 ?? "".utf8))
    }
  }

  private static func serialized(_ part: DocumentPart) throws(MessageError) -> [UInt8] {
    do {
      return try part.json["json"]?.serialized() ?? []
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

  /// The very file of the original where the document still names it, since that one may be removed with its last user.
  private static func file(_ part: DocumentPart, original: Body) throws(MessageError) -> FileBody {
    let path = try part.string("file") ?? ""
    if case .file(let file) = original, file.path == path { return file }
    guard part.rules.contains(.files) else { throw part.failure(at: "file", "files are not allowed here") }
    var status = stat()
    guard stat(path, &status) == 0 else {
      throw part.failure(at: "file", "cannot read \(path): \(String(cString: strerror(errno)))")
    }
    guard status.st_mode & S_IFMT == S_IFREG else { throw part.failure(at: "file", "\(path) is no regular file") }
    return FileBody(path: path, byteCount: Int(status.st_size))
  }
}
