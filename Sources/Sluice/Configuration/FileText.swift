import Glibc

/// Reads whole small files.
enum FileText {
  /// Why a file could not be read, in words.
  struct ReadError: Error, CustomStringConvertible {
    let description: String
    var isMissing = false
  }

  static func read(_ path: String, limitBytes: Int) throws(ReadError) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(errno) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    while true {
      var readError: Int32 = 0
      let before = bytes.count
      bytes.append(addingCapacity: 65536) { output in
        unsafeRead(descriptor, &output, &readError)
      }
      guard readError == 0 else { throw failure(readError) }
      if bytes.count == before { return bytes }
      guard bytes.count <= limitBytes else { throw ReadError(description: "it is larger than \(limitBytes) bytes") }
    }
  }

  private static func unsafeRead(_ descriptor: Int32, _ output: inout OutputSpan<UInt8>, _ failure: inout Int32) {
    output.withUnsafeMutableBufferPointer { buffer, initializedCount in
      guard let base = buffer.baseAddress else { return }
      var count = -1
      repeat {
        count = Glibc.read(descriptor, base + initializedCount, buffer.count - initializedCount)
      } while count < 0 && errno == EINTR
      if count < 0 { failure = errno } else { initializedCount += count }
    }
  }

  private static func failure(_ code: Int32) -> ReadError {
    ReadError(description: String(cString: strerror(code)), isMissing: code == ENOENT || code == ENOTDIR)
  }
}
