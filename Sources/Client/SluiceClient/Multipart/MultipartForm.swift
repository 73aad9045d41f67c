public import SluiceMessages
public import SluicePipeline

/// The fields and files of a form, which are sent as `multipart/form-data` (RFC 7578).
///
/// Names and file names can be any text: quotes and line ends in them become `%22`, `%0D` and `%0A` (HTML Standard,
/// "multipart/form-data encoding algorithm"). Values and contents are sent unchanged.
public struct MultipartForm: Sendable {
  enum Segment: Sendable {
    case bytes([UInt8])
    case file(FileBody)
  }

  /// The text that separates the parts. It contains 128 random bits, so nobody can choose content that contains it.
  let boundary: String
  private(set) var segments: [Segment] = []

  /// An empty form.
  public init() {
    var random = SystemRandomNumberGenerator()
    let digits = Array("0123456789abcdef")
    boundary = "sluice-" + String((0..<32).map { _ in digits[Int(random.next() & 15)] })
  }

  /// Adds a field.
  public mutating func append(name: String, value: String) {
    begin(Array(name.utf8), nil, contentType: nil)
    append(Array(value.utf8))
    append("\r\n")
  }

  /// Adds a field whose value is bytes.
  ///
  /// - Parameters:
  ///   - filename: nil sends no file name.
  ///   - contentType: nil sends no content type.
  /// - Throws: `invalid_header` if the content type contains characters that are not allowed in a header.
  package mutating func append(
    name: [UInt8], bytes: [UInt8], filename: [UInt8]?, contentType: [UInt8]?
  ) throws(MessageError) {
    try begin(name, filename, contentType)
    append(bytes)
    append("\r\n")
  }

  /// Adds a file that is read while it is sent, and whose size is known.
  package mutating func append(
    name: [UInt8], file: FileBody, filename: [UInt8], contentType: [UInt8]
  ) throws(MessageError) {
    try begin(name, filename, contentType)
    segments.append(.file(file))
    append("\r\n")
  }

  /// Adds a file whose content is in memory.
  ///
  /// - Throws: `invalid_header` if the content type contains characters that are not allowed in a header.
  public mutating func append(
    name: String, bytes: [UInt8], filename: String, contentType: String = "application/octet-stream"
  ) throws(MessageError) {
    try append(
      name: Array(name.utf8), bytes: bytes, filename: Array(filename.utf8), contentType: Array(contentType.utf8))
  }

  /// Adds a file that is read while it is sent. Only its size is read now; a file whose size the system does not know,
  /// as in `/proc`, is read completely, up to 64 MiB. If the file is shorter when it is sent, the request fails with
  /// `body_file`; bytes that were added later are not sent.
  ///
  /// - Parameters:
  ///   - path: a regular file.
  ///   - filename: the name for the server; nil uses the last component of the path.
  /// - Throws: `body_file` if the path does not lead to a regular file, `invalid_header` if the content type is
  ///   invalid.
  public mutating func append(
    name: String, fileAt path: String, filename: String? = nil, contentType: String = "application/octet-stream"
  ) async throws(TransactionError) {
    let body = try await Body.file(at: path)
    let last = path.split(separator: "/").last.map(String.init) ?? path
    do throws(MessageError) {
      let (name, filename, type) = (Array(name.utf8), Array((filename ?? last).utf8), Array(contentType.utf8))
      if case .file(let file) = body {
        try append(name: name, file: file, filename: filename, contentType: type)
      } else {
        try append(name: name, bytes: body.bytes ?? [], filename: filename, contentType: type)
      }
    } catch { throw TransactionError(code: error.code, message: error.description, isBeforeSending: true) }
  }

  private mutating func begin(
    _ name: [UInt8], _ filename: [UInt8]?, _ contentType: [UInt8]?
  ) throws(MessageError) {
    if let contentType { try HeaderFields.check(name: "content-type".utf8.span, value: contentType.span) }
    begin(name, filename, contentType: contentType)
  }

  private mutating func begin(_ name: [UInt8], _ filename: [UInt8]?, contentType: [UInt8]?) {
    append("--\(boundary)\r\nContent-Disposition: form-data; name=\"")
    append(Self.escaped(name))
    if let filename {
      append("\"; filename=\"")
      append(Self.escaped(filename))
    }
    append("\"\r\n")
    if let contentType { append("Content-Type: ".utf8 + contentType + "\r\n".utf8) }
    append("\r\n")
  }

  private mutating func append(_ text: String) { append(Array(text.utf8)) }

  private mutating func append(_ bytes: [UInt8]) {
    guard case .bytes(var earlier)? = segments.last else {
      segments.append(.bytes(bytes))
      return
    }
    segments.removeLast()
    earlier += bytes
    segments.append(.bytes(earlier))
  }

  private static func escaped(_ text: [UInt8]) -> [UInt8] {
    text.flatMap { byte in
      switch byte {
      case UInt8(ascii: "\""): Array("%22".utf8)
      case 0x0D: Array("%0D".utf8)
      case 0x0A: Array("%0A".utf8)
      default: [byte]
      }
    }
  }
}

extension MultipartForm {
  /// The `Content-Type` of a message that has the form as its body.
  package var contentType: String { "multipart/form-data; boundary=\(boundary)" }

  /// The form as a body, which can be sent again: its files are then read again.
  package func makeBody() -> Body {
    let segments = allSegments
    if segments.count == 1, case .bytes(let bytes) = segments[0] { return .bytes(bytes) }
    let pieces = MultipartPieces(segments: segments)
    return .stream(ProducedBody(pieces, byteCount: pieces.byteCount, isRepeatable: true).stream)
  }

  /// The segments of the form, including the closing boundary.
  var allSegments: [Segment] {
    var form = self
    form.append("--\(boundary)--\r\n")
    return form.segments
  }
}
