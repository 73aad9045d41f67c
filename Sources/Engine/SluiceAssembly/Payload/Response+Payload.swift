public import SluiceJSON
public import SluiceMessages
public import SluicePipeline

extension Response {
  /// The body as JSON. A body in a file is read, which blocks until the disk has delivered it.
  ///
  /// - Throws: an error with the code `extraction` if the body is not JSON.
  public func json() throws(TransactionError) -> JSONValue {
    // A byte order mark may be ignored (RFC 8259 §8.1).
    let bytes = try bytes().withoutByteOrderMark
    guard !bytes.isEmpty else { throw extractionError("the body is empty, expected JSON") }
    do { return try JSONValue(parsing: bytes, options: .rejectDuplicates) } catch {
      throw extractionError("the body is not JSON: \(error)")
    }
  }

  /// The body as text: UTF-8, US-ASCII or ISO-8859-1, as the charset of its media type says.
  ///
  /// - Throws: an error with the code `extraction` for any other charset, and for bytes that are invalid in the
  ///   charset.
  public func text() throws(TransactionError) -> String {
    let bytes = try bytes()
    switch charset {
    case "utf-8", "utf8":
      guard let text = String(validating: bytes, as: UTF8.self) else { throw extractionError("the body is not UTF-8") }
      return text
    case "us-ascii", "ascii":
      guard bytes.allSatisfy({ $0 < 0x80 }) else { throw extractionError("the body is not US-ASCII") }
      return String(decoding: bytes, as: UTF8.self)
    case "iso-8859-1", "latin1": return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    case let other:
      throw extractionError("the charset \(PlainText.quote(other)) is not supported; set \"extract\" to \"raw\"")
    }
  }

  /// The unchanged body, from memory or from its file.
  public func bytes() throws(TransactionError) -> [UInt8] {
    if let bytes = body.bytes { return bytes }
    guard case .file(let file) = body else { throw extractionError("the body was streamed and was not kept") }
    do { return try FileText.read(file.path, limitBytes: file.byteCount) } catch {
      throw extractionError("cannot read \(file.path): \(error)")
    }
  }

  /// The charset of the media type (RFC 9110 §8.3.2), in lower case; `utf-8` if it names none.
  private var charset: String {
    for parameter in (headers["content-type"] ?? "").split(separator: ";").dropFirst() {
      let parts = parameter.split(separator: "=", maxSplits: 1)
      guard parts.count == 2, let name = parts.first, let value = parts.last, Self.trimmed(name) == "charset" else {
        continue
      }
      return Self.trimmed(value)
    }
    return "utf-8"
  }

  private static func trimmed(_ text: Substring) -> String {
    text.filter { $0 != " " && $0 != "\t" && $0 != "\"" }.lowercased()
  }

  func extractionError(_ reason: String) -> TransactionError {
    let type = headers["content-type"].map { " (Content-Type: \($0))" } ?? ""
    return TransactionError(code: .extraction, message: reason + type)
  }
}
