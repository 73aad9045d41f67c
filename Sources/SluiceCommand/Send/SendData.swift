import Glibc
import SluiceMessages

/// The body that `-d` and `--data-binary` describe.
struct SendData {
  let body: Body
  /// What is sent unless a header says otherwise; nil without data.
  let contentType: String?
  let isGiven: Bool

  init(_ arguments: ParsedArguments, limitBytes: Int) throws(CommandError) {
    let forms = arguments.all("data")
    let binary = arguments.all("data-binary")
    guard forms.isEmpty || binary.isEmpty, binary.count < 2 else {
      throw CommandError(.usage, "send: give either -d, or --data-binary once")
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

  private static func form(_ data: String, _ limitBytes: Int) throws(CommandError) -> [UInt8] {
    guard data.hasPrefix("@") else { return Array(data.utf8) }
    return try read(String(data.dropFirst()), "-d", limitBytes).filter { $0 != 0x0D && $0 != 0x0A && $0 != 0 }
  }

  private static func binary(_ data: String, _ limitBytes: Int) throws(CommandError) -> Body {
    guard data.hasPrefix("@") else { return .text(data) }
    let path = String(data.dropFirst())
    var status = stat()
    // Sent from the file, however large; anything but a regular file has to be read to know its length.
    if path != "-", stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, access(path, R_OK) == 0 {
      return .file(FileBody(path: path, byteCount: Int(status.st_size)))
    }
    return .bytes(try read(path, "--data-binary", limitBytes))
  }

  private static func read(_ path: String, _ option: String, _ limitBytes: Int) throws(CommandError) -> [UInt8] {
    do throws(CommandError) {
      guard path != "-" else { return try readAll(STDIN_FILENO, "standard input", limitBytes) }
      let descriptor = open(path, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else {
        throw CommandError(.usage, "cannot read \(path): \(String(cString: strerror(errno)))")
      }
      defer { close(descriptor) }
      return try readAll(descriptor, path, limitBytes)
    } catch {
      throw CommandError(error.status, "send: \(option): \(error.message)")
    }
  }

  private static func readAll(
    _ descriptor: Int32, _ name: String, _ limitBytes: Int
  ) throws(CommandError) -> [UInt8] {
    try Descriptors.readAll(
      descriptor, name: name, limitBytes: limitBytes, advice: "raise transport.maxRequestBytes")
  }
}
