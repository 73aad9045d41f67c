import Glibc
import SluiceMessages

/// The body that the options of a request describe, and its effects on the URL and the headers.
struct SendData {
  private(set) var body = Body.empty
  /// The content type for a request whose headers do not set one.
  private(set) var contentType: String?
  /// The value of `Accept` for a request whose headers do not set it.
  private(set) var accept: String?
  /// The texts that `--url-query` and `-G` append to the query, with `&` between them.
  private(set) var queries: [[UInt8]] = []
  /// The name of the file that `-T` sends, without its folders. As with curl, a backslash separates folders too.
  private(set) var uploadName: String?

  /// The options whose values are joined to one body, in the order in which they are given.
  static let joined = ["data", "data-raw", "data-binary", "data-urlencode", "json"]

  /// - Parameter streamsInput: whether standard input is sent while it is read. It can then be sent only once.
  init(_ arguments: ParsedArguments, limitBytes: Int, streamsInput: Bool) throws(CommandError) {
    let reader = DataReader(limitBytes: limitBytes)
    let pieces = arguments.options.filter { Self.joined.contains($0.name) }
    let form = arguments.options.filter { FormFields.options.contains($0.name) }
    let upload = arguments["upload-file"]
    guard [!pieces.isEmpty, !form.isEmpty, upload != nil].count(where: \.self) < 2 else {
      throw CommandError(.usage, "give only one of data (-d, --json), a form (-F) and a file to upload (-T)")
    }
    for value in arguments.options where value.name == "url-query" {
      let bytes = value.value.bytes
      queries.append(bytes.first == UInt8(ascii: "+") ? Array(bytes.dropFirst()) : try encoded(value.value, reader))
    }
    if let upload {
      let isInput = upload == "-" || upload == "."
      uploadName = isInput ? nil : upload.split { $0 == "/" || $0 == "\\" }.last.map(String.init)
      if streamsInput, isInput || DataReader.isPipe(upload) {
        if isInput {
          do throws(CommandError) { try StandardInput.check() } catch {
            throw CommandError(error.status, "-T: \(error.message)")
          }
        }
        let source =
          isInput ? .descriptor(StandardInput.descriptor) : PumpedBody.Source.file(FileBody(path: upload, byteCount: 0))
        body = isInput && StandardInput.isEmpty ? .empty : PumpedBody.make(source)
      } else {
        body = try reader.body(ofFile: isInput ? "-" : upload, "-T")
      }
    } else if !form.isEmpty {
      (body, contentType) = try FormFields(reader).make(form)
    } else if !pieces.isEmpty {
      try join(pieces, reader)
    }
    guard arguments.has("get") else { return }
    guard form.isEmpty, upload == nil else { throw CommandError(.usage, "-G takes data (-d), and no file or form") }
    try moveToQuery()
  }

  /// The method that the options imply, as with curl. Reads no file.
  static func method(_ arguments: ParsedArguments) -> String {
    if arguments.has("get") { return "GET" }
    if arguments.has("upload-file") { return "PUT" }
    return (joined + FormFields.options).contains(where: arguments.has) ? "POST" : "GET"
  }

  private mutating func join(
    _ pieces: [(name: String, value: ArgumentWord)], _ reader: DataReader
  ) throws(CommandError) {
    let isJSON = pieces.contains { $0.name == "json" }
    contentType = isJSON ? "application/json" : "application/x-www-form-urlencoded"
    accept = isJSON ? "application/json" : nil
    if pieces.count == 1, pieces[0].name == "data-binary",
      let path = try DataReader.path(pieces[0].value, "--data-binary")
    {
      body = try reader.body(ofFile: path, "--data-binary")
      return
    }
    var bytes: [UInt8] = []
    for (index, piece) in pieces.enumerated() {
      if index > 0, !isJSON { bytes.append(UInt8(ascii: "&")) }
      bytes += try content(piece.name, piece.value, reader)
    }
    body = .bytes(bytes)
  }

  private func content(
    _ name: String, _ value: ArgumentWord, _ reader: DataReader
  ) throws(CommandError) -> [UInt8] {
    switch name {
    case "data-raw": return value.bytes
    case "data-urlencode": return try encoded(value, reader)
    case "data-binary", "json":
      guard let path = try DataReader.path(value, "--\(name)") else { return value.bytes }
      return try reader.content(ofFile: path, "--\(name)")
    default:
      guard let path = try DataReader.path(value, "-d") else { return value.bytes }
      return try reader.content(ofFile: path, "-d").filter { $0 != 0x0D && $0 != 0x0A && $0 != 0 }
    }
  }

  /// Encodes a value in one of curl's forms: `content`, `=content`, `name=content`, `@file`, `name@file`.
  private func encoded(_ value: ArgumentWord, _ reader: DataReader) throws(CommandError) -> [UInt8] {
    let (bytes, equals) = (value.bytes, UInt8(ascii: "="))
    guard let mark = bytes.firstIndex(of: equals) ?? bytes.firstIndex(of: UInt8(ascii: "@")) else {
      return Self.formEncoded(bytes)
    }
    var rest = Array(bytes[(mark + 1)...])
    if bytes[mark] != equals {
      rest = try reader.content(ofFile: DataReader.name(rest, "--data-urlencode"), "--data-urlencode")
    }
    return (mark == 0 ? [] : bytes[..<mark] + [equals]) + Self.formEncoded(rest)
  }

  /// Percent-encodes bytes, and encodes a space as a plus sign, as curl does.
  private static func formEncoded(_ bytes: [UInt8]) -> [UInt8] {
    Array(PercentCoding.encoded(bytes.span).replacing("%20", with: "+").utf8)
  }

  private mutating func moveToQuery() throws(CommandError) {
    contentType = nil
    switch body {
    case .empty: return
    case .bytes(let bytes):
      queries.append(bytes)
      body = .empty
    case .file, .stream: throw CommandError(.usage, "-G takes data (-d), and no file or form")
    }
  }
}
