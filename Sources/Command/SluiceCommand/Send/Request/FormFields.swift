import SluiceClient
import SluiceMessages
import SluicePipeline

/// The form that `-F` and `--form-string` describe.
struct FormFields {
  static let options = ["form", "form-string"]
  private let reader: DataReader

  init(_ reader: DataReader) { self.reader = reader }

  func make(
    _ fields: [(name: String, value: ArgumentWord)]
  ) throws(CommandError) -> (body: Body, contentType: String) {
    var form = MultipartForm()
    for field in fields { try append(field.value, isPlain: field.name == "form-string", to: &form) }
    return (form.makeBody(), form.contentType)
  }

  /// - Parameter isPlain: whether the value is taken literally, without `@`, `<` and parameters.
  private func append(_ field: ArgumentWord, isPlain: Bool, to form: inout MultipartForm) throws(CommandError) {
    guard let equals = field.bytes.firstIndex(of: UInt8(ascii: "=")), equals > 0 else {
      throw CommandError(
        .usage, "\(isPlain ? "--form-string" : "-F"): expected NAME=VALUE, found \(PlainText.quote(field.bytes.span))")
    }
    let name = Array(field.bytes[..<equals])
    let value = field.bytes[(equals + 1)...]
    guard !isPlain else { return try append(name, FormValue(content: Array(value)), to: &form) }
    switch value.first {
    case UInt8(ascii: "@"): try appendFile(name, FormValue(value.dropFirst()), to: &form)
    case UInt8(ascii: "<"):
      var field = try FormValue(value.dropFirst())
      field.content = try reader.content(ofFile: DataReader.name(field.content, "-F"), "-F")
      try append(name, field, to: &form)
    default: try append(name, FormValue(value), to: &form)
    }
  }

  private func append(_ name: [UInt8], _ field: FormValue, to form: inout MultipartForm) throws(CommandError) {
    do throws(MessageError) {
      try form.append(name: name, bytes: field.content, filename: field.filename, contentType: field.type)
    } catch { throw CommandError(.usage, "-F: \(error)") }
  }

  private func appendFile(_ name: [UInt8], _ field: FormValue, to form: inout MultipartForm) throws(CommandError) {
    let path = try DataReader.name(field.content, "-F")
    let filename = field.filename ?? Array(Paths.name(of: path).utf8)
    let type = field.type ?? Self.type(of: filename)
    let content = try reader.body(ofFile: path, "-F")
    do throws(MessageError) {
      switch content {
      case .file(let file): try form.append(name: name, file: file, filename: filename, contentType: type)
      case .bytes(let bytes): try form.append(name: name, bytes: bytes, filename: filename, contentType: type)
      case .empty, .stream: break
      }
    } catch { throw CommandError(.usage, "-F: \(error)") }
  }

  /// The types that curl knows.
  private static func type(of filename: [UInt8]) -> [UInt8] {
    let types = [
      "gif": "image/gif", "jpg": "image/jpeg", "jpeg": "image/jpeg", "png": "image/png", "svg": "image/svg+xml",
      "txt": "text/plain", "htm": "text/html", "html": "text/html", "pdf": "application/pdf", "xml": "application/xml",
    ]
    let parts = String(decoding: filename, as: UTF8.self).split(separator: ".", omittingEmptySubsequences: false)
    return Array((parts.count > 1 ? types[parts[parts.count - 1].lowercased()] ?? octets : octets).utf8)
  }

  private static let octets = "application/octet-stream"
}
