import Glibc
import SluiceMessages
import SluiceSupport

/// Reads the files that the options of a request name; `-` means standard input.
struct DataReader {
  /// The contents of standard input and of pipes by path. They can be read only once, but several requests can use
  /// them.
  private static let contents = Locked<[String: [UInt8]]>([:])

  private func once(
    _ path: String, _ read: () throws(CommandError) -> [UInt8]
  ) throws(CommandError) -> [UInt8] {
    if let earlier = Self.contents.withLock({ $0[path] }) { return earlier }
    let content = try read()
    Self.contents.withLock { $0[path] = content }
    return content
  }

  /// The maximum size of a content that is held in memory.
  let limitBytes: Int

  /// The file name after the `@`; nil if the value is the data itself.
  static func path(_ value: ArgumentWord, _ option: String) throws(CommandError) -> String? {
    guard value.bytes.first == UInt8(ascii: "@") else { return nil }
    return try name(value.bytes.dropFirst(), option)
  }

  static func name(_ bytes: some Sequence<UInt8>, _ option: String) throws(CommandError) -> String {
    let word = ArgumentWord(bytes)
    guard let path = word.text else {
      throw CommandError(.usage, "\(option): the name of the file is not UTF-8: \(PlainText.quote(word.bytes.span))")
    }
    return path
  }

  /// Whether the path is a pipe or a device, whose length is unknown until it has been read.
  static func isPipe(_ path: String) -> Bool {
    SystemPath.status(of: path).map { [S_IFIFO, S_IFCHR].contains($0.st_mode & S_IFMT) } ?? false
  }

  /// A body from a file. A regular file of any size is sent from the disk. Any other file is read completely first,
  /// because its length is not known before, and so is a file of `/proc` or `/sys`.
  func body(ofFile path: String, _ option: String) throws(CommandError) -> Body {
    guard path != "-", access(SystemPath.of(path), R_OK) == 0 else { return .bytes(try content(ofFile: path, option)) }
    do throws(UploadSource.Failure) {
      switch try UploadSource(at: path, limitBytes: limitBytes) {
      case .file(let byteCount): return .file(FileBody(path: path, byteCount: byteCount))
      case .content(let bytes): return .bytes(bytes)
      }
    } catch {
      if case .notRegular = error { return .bytes(try content(ofFile: path, option)) }
      throw CommandError(.usage, "\(option): cannot read \(PlainText.path(path)): \(error.text)")
    }
  }

  /// The content of a file that has text for the command itself, without a byte order mark.
  func text(ofFile path: String, _ option: String) throws(CommandError) -> [UInt8] {
    Array(try content(ofFile: path, option).withoutByteOrderMark)
  }

  func content(ofFile path: String, _ option: String) throws(CommandError) -> [UInt8] {
    do throws(CommandError) {
      guard path != "-" else {
        return try once(path) { () throws(CommandError) in
          try StandardInput.check()
          return try readAll(StandardInput.descriptor, "standard input")
        }
      }
      if let earlier = Self.contents.withLock({ $0[path] }) { return earlier }
      let descriptor = SystemPath.open(path, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else {
        throw CommandError(.usage, "cannot read \(PlainText.path(path)): \(String(cString: strerror(errno)))")
      }
      defer { close(descriptor) }
      guard FileIdentity(of: descriptor) == nil else { return try readAll(descriptor, path) }
      return try once(path) { () throws(CommandError) in try readAll(descriptor, path) }
    } catch {
      throw CommandError(error.status, "\(option): \(error.message)")
    }
  }

  private func readAll(_ descriptor: Int32, _ name: String) throws(CommandError) -> [UInt8] {
    try Descriptors.readAll(
      descriptor, name: name, limitBytes: limitBytes, advice: "raise transport.maxRequestBytes")
  }
}
