import Glibc
import SluiceMessages

/// The body that `-d` and `--data-binary` describe.
struct SendData {
  let body: Body
  /// The content type that is sent unless a header sets one; nil without data.
  let contentType: String?
  let isGiven: Bool

  init(_ arguments: ParsedArguments, limitBytes: Int) throws(CommandError) {
    let forms = arguments.allBytes("data")
    let binary = arguments.allBytes("data-binary")
    guard forms.isEmpty || binary.isEmpty, binary.count < 2 else {
      throw CommandError(.usage, "give either -d, or --data-binary once")
    }
    isGiven = !forms.isEmpty || !binary.isEmpty
    contentType = isGiven ? "application/x-www-form-urlencoded" : nil
    if let data = binary.first {
      body = try Self.binary(data, limitBytes)
    } else {
      var bytes: [UInt8] = []
      for (index, data) in forms.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: "&")) }
        bytes += try Self.form(data, limitBytes)
      }
      body = isGiven ? .bytes(bytes) : .empty
    }
  }

  private static func form(_ data: [UInt8], _ limitBytes: Int) throws(CommandError) -> [UInt8] {
    guard let path = try Self.path(data, "-d") else { return data }
    return try read(path, "-d", limitBytes).filter { $0 != 0x0D && $0 != 0x0A && $0 != 0 }
  }

  private static func binary(_ data: [UInt8], _ limitBytes: Int) throws(CommandError) -> Body {
    guard let path = try Self.path(data, "--data-binary") else { return .bytes(data) }
    var status = stat()
    // A regular file of any size is sent from the disk; any other file must be read to know its length.
    if path != "-", stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, access(path, R_OK) == 0 {
      return .file(FileBody(path: path, byteCount: Int(status.st_size)))
    }
    return .bytes(try read(path, "--data-binary", limitBytes))
  }

  /// The text after the `@`; nil if the argument is the data itself.
  private static func path(_ data: [UInt8], _ option: String) throws(CommandError) -> String? {
    guard data.first == UInt8(ascii: "@") else { return nil }
    guard let path = ArgumentWord(data.dropFirst()).text else {
      throw CommandError(.usage, "\(option): the name of the file is not UTF-8: \(PlainText.quote(data.span))")
    }
    return path
  }

  private static func read(_ path: String, _ option: String, _ limitBytes: Int) throws(CommandError) -> [UInt8] {
    do throws(CommandError) {
      guard path != "-" else { return try readAll(STDIN_FILENO, "standard input", limitBytes) }
      let descriptor = open(path, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else {
        throw CommandError(.usage, "cannot read \(PlainText.path(path)): \(String(cString: strerror(errno)))")
      }
      defer { close(descriptor) }
      return try readAll(descriptor, path, limitBytes)
    } catch {
      throw CommandError(error.status, "\(option): \(error.message)")
    }
  }

  private static func readAll(
    _ descriptor: Int32, _ name: String, _ limitBytes: Int
  ) throws(CommandError) -> [UInt8] {
    try Descriptors.readAll(
      descriptor, name: name, limitBytes: limitBytes, advice: "raise transport.maxRequestBytes")
  }
}
