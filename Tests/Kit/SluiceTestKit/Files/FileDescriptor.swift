import CTestKit
import Glibc
import SluiceSupport

/// A file descriptor that is closed only once: by `close`, or when this object is released.
package final class FileDescriptor: Sendable {
  package let number: Int32
  private let isOpen = Locked(true)

  /// Takes ownership of the descriptor.
  package init(adopting number: Int32) {
    self.number = number
  }

  static func create(_ path: String) throws -> FileDescriptor {
    let number = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard number >= 0 else { throw TestKitError.system("create \(path)") }
    return FileDescriptor(adopting: number)
  }

  /// A pipe whose ends are not inherited by child processes.
  static func pipe() throws -> (reading: FileDescriptor, writing: FileDescriptor) {
    var ends: [Int32] = [0, 0]
    guard sluice_test_pipe(&ends) == 0 else { throw TestKitError.system("pipe2") }
    return (FileDescriptor(adopting: ends[0]), FileDescriptor(adopting: ends[1]))
  }

  deinit { close() }

  package func close() {
    isOpen.withLock { isOpen in
      if isOpen { _ = Glibc.close(number) }
      isOpen = false
    }
  }

  /// Runs the body with the descriptor's number, or not at all if the descriptor is closed.
  ///
  /// Use it on threads other than the one that closes the descriptor: after `close`, another file can get the number.
  package func ifOpen(_ body: (Int32) -> Void) {
    isOpen.withLock { if $0 { body(number) } }
  }

  /// Blocks until some bytes have arrived, and returns them. Returns an empty array at the end of the file.
  package func read(upTo count: Int = 65536) throws -> [UInt8] {
    var failure: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, used in
      repeat { used = max(-1, Glibc.read(number, buffer.baseAddress, count)) } while used < 0 && errno == EINTR
      if used < 0 {
        failure = errno
        used = 0
      }
    }
    guard failure == 0 else { throw TestKitError.system("read", failure) }
    return bytes
  }

  package func readToEnd() throws -> [UInt8] {
    var all: [UInt8] = []
    while case let piece = try read(), !piece.isEmpty { all += piece }
    return all
  }

  /// Blocks until everything is written. Throws if the reader has closed its end. The tests ignore SIGPIPE
  /// (`StandardSignals`), which would end the process.
  package func write(_ bytes: [UInt8]) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(number, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw TestKitError.system("write") }
      rest = rest.dropFirst(count)
    }
  }
}
