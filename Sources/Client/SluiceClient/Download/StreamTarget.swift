import Glibc
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// A pipe or a device that gets the body while it arrives. What was written cannot be taken back, so such a download
/// cannot be resumed.
///
/// No thread waits for the reader of a pipe for long, because all clients share the ``FileThreads``.
final class StreamTarget: DownloadTarget {
  private static let pause = Duration.milliseconds(10)
  private static let waitMilliseconds: CInt = 100

  let target: String
  var partialPath: String? { nil }
  private let file: FileDescriptor

  private init(_ target: String, _ file: consuming FileDescriptor) {
    self.target = target
    self.file = file
  }

  /// - Parameter patience: how long a FIFO may have no reader.
  static func open(
    _ path: String, patience: Duration, isCancelled: () -> Bool
  ) async throws(TransactionError) -> StreamTarget {
    let deadline = MonotonicClock.now + patience
    while true {
      let (opened, number) = try await FileThreads.run { () -> (StreamTarget?, CInt) in
        let descriptor = OutputTarget.openAtOnce(path, O_WRONLY | O_APPEND, mode: 0)
        guard descriptor >= 0 else { return (nil, errno) }
        return (StreamTarget(path, FileDescriptor(owning: descriptor)), 0)
      }
      if let opened { return opened }
      guard number == ENXIO, OutputTarget.isPipe(at: path) else { throw PartialFile.failure("open", path, number) }
      guard MonotonicClock.now < deadline else {
        throw TransactionError(
          code: .bodyFile,
          message:
            "cannot open \(PlainText.path(path)): no process has opened the pipe for reading; start its reader first",
          isBeforeSending: true)
      }
      try? await Task.sleep(for: pause)
      guard !isCancelled(), !Task.isCancelled else { throw TransactionError.cancelledEarly }
    }
  }

  func write(
    _ pieces: [[UInt8]], at offset: Int, failure: () -> TransactionError?
  ) async throws(TransactionError) {
    for piece in pieces {
      var rest = piece[...]
      while !rest.isEmpty {
        let bytes = rest
        let count = try await FileThreads.run { self.write(bytes) }.get()
        rest = rest.dropFirst(count)
        if count == 0, let failure = failure() { throw failure }
      }
    }
  }

  /// Returns how many bytes were written; 0 if the reader of the pipe takes none at the moment.
  private func write(_ bytes: ArraySlice<UInt8>) -> Result<Int, TransactionError> {
    while true {
      let count = bytes.withUnsafeBytes { Glibc.write(file.raw, $0.baseAddress, $0.count) }
      if count > 0 { return .success(count) }
      switch count == 0 ? ENOSPC : errno {
      case EINTR: continue
      case EAGAIN:
        var ready = pollfd(fd: file.raw, events: Int16(POLLOUT), revents: 0)
        poll(&ready, 1, Self.waitMilliseconds)
        return .success(0)
      case let number: return .failure(PartialFile.failure("write", target, number))
      }
    }
  }

  func startOver() {}
  func finish() {}
  func keep(_ offset: Int) -> Bool { false }
  func remove() {}
}
