package import Glibc

/// Owns an open file, and closes it when the value is destroyed.
package struct FileDescriptor: ~Copyable {
  package let raw: CInt

  /// Opens a file at a ``SystemPath``. Returns nil, with `errno` set, if that fails.
  package init?(opening path: String, _ flags: CInt, mode: mode_t = 0) {
    var result: CInt
    repeat { result = SystemPath.open(path, flags | O_CLOEXEC, mode: mode) } while result < 0 && errno == EINTR
    guard result >= 0 else { return nil }
    raw = SharedState.keepingStreams(result)
  }

  /// Takes ownership of a descriptor.
  package init(owning descriptor: CInt) { raw = descriptor }

  deinit { close(raw) }

  /// Closes a file that was written. Returns false, with `errno` set, if a write has failed later than it returned, as
  /// on a network file system.
  package consuming func closeAfterWriting() -> Bool {
    let raw = raw
    discard self
    return close(raw) == 0
  }

  package func status() -> stat? {
    var status = stat()
    return fstat(raw, &status) == 0 ? status : nil
  }

  /// Reads up to the end of the file, but at most `capacity` bytes. Returns nil, with `errno` set, if that fails.
  /// Memory is allocated only as bytes are read, because a program may have little memory.
  package func readAll(capacity: Int) -> [UInt8]? {
    var bytes: [UInt8] = []
    while bytes.count < capacity {
      let room = min(max(bytes.count, 16384), capacity - bytes.count)
      guard let step = append(atMost: room, to: &bytes) else { return nil }
      if step == 0 { break }
    }
    return bytes
  }

  private func append(atMost room: Int, to bytes: inout [UInt8]) -> Int? {
    var step = 0
    bytes.append(addingCapacity: room) { output in
      output.withUnsafeMutableBufferPointer { buffer, count in
        let place = buffer.baseAddress.map { $0 + count }
        repeat { step = read(raw, place, room) } while step < 0 && errno == EINTR
        if step > 0 { count += step }
      }
    }
    return step < 0 ? nil : step
  }

  /// Returns false, with `errno` set, if not all bytes could be written.
  package func writeAll(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { writeAll($0) } }

  /// Returns false, with `errno` set, if not all bytes could be written.
  package func writeAll(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var offset = 0
    while offset < bytes.count {
      let step = write(raw, bytes.baseAddress.map { $0 + offset }, bytes.count - offset)
      if step < 0 && errno == EINTR { continue }
      guard step > 0 else { return false }
      offset += step
    }
    return true
  }
}

extension stat {
  package var isRegularFile: Bool { st_mode & S_IFMT == S_IFREG }
  package var isDirectory: Bool { st_mode & S_IFMT == S_IFDIR }

  /// Whether two results of fstat(2) are of the same file, with the same size and the same time of the last change.
  package func isUnchanged(since earlier: stat) -> Bool {
    st_dev == earlier.st_dev && st_ino == earlier.st_ino && st_size == earlier.st_size
      && st_mtim.tv_sec == earlier.st_mtim.tv_sec && st_mtim.tv_nsec == earlier.st_mtim.tv_nsec
  }
}
