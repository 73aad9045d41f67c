import Glibc

/// The streams that the command was started with.
enum StandardOutput {
  /// Writes a short text at once; for commands that say little.
  static func write(_ text: String) throws(CommandError) {
    if let errorNumber = Descriptors.write(text, to: STDOUT_FILENO) { throw failure(errorNumber) }
  }

  static func failure(_ errorNumber: Int32) -> CommandError {
    if errorNumber == EPIPE { return CommandError(.brokenPipe, "") }
    return CommandError(.failed, "cannot write standard output: \(String(cString: strerror(errorNumber)))")
  }
}

enum StandardError {
  /// Writes lines that begin with the program's name.
  static func say(_ message: String) {
    guard !message.isEmpty else { return }
    let lines = message.split(separator: "\n", omittingEmptySubsequences: false)
    write(lines.map { "sluice: \($0)\n" }.joined())
  }

  static func write(_ text: String) { _ = Descriptors.write(text, to: STDERR_FILENO) }
}

enum Descriptors {
  /// Writes all of it; gives the error number when that fails.
  static func write(_ text: String, to descriptor: Int32) -> Int32? {
    var text = text
    return text.withUTF8 { bytes in
      var written = 0
      while written < bytes.count {
        let count = Glibc.write(descriptor, bytes.baseAddress?.advanced(by: written), bytes.count - written)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return errno }
        written += count
      }
      return nil
    }
  }

  /// Reads to the end; throws the error number.
  static func readAll(_ descriptor: Int32, limitBytes: Int) throws(CommandError) -> [UInt8] {
    var bytes: [UInt8] = []
    let block = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
    defer { block.deallocate() }
    while true {
      let count = Glibc.read(descriptor, block.baseAddress, block.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw CommandError(.failed, "cannot read: \(String(cString: strerror(errno)))") }
      if count == 0 { return bytes }
      bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: block[..<count]))
      guard bytes.count <= limitBytes else {
        throw CommandError(.failed, "there are more than the \(limitBytes) bytes that a request may have")
      }
    }
  }
}
