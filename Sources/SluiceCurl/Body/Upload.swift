import CCurl
import Glibc
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// A request body that libcurl pulls piece by piece.
final class Upload {
  private enum Source {
    case file(UploadFile, FileBody)
    case stream(BodyStream)
  }

  private let source: Source
  let byteCount: Int?
  private(set) var deliveredBytes = 0
  /// The rest of a piece that did not fit into libcurl's buffer.
  private var rest: ArraySlice<UInt8> = []
  private(set) var failure: TransportError?
  /// The producer has no data for now and is asked again later.
  private(set) var isStarved = false

  init?(_ body: Body) throws(TransportError) {
    switch body {
    case .empty, .bytes: return nil
    case .file(let file):
      source = .file(try UploadFile(file), file)
      byteCount = file.byteCount
    case .stream(let stream):
      source = .stream(stream)
      byteCount = stream.byteCount
    }
  }

  /// Fills libcurl's buffer; returns what its read callback returns.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    isStarved = false
    let room = byteCount.map { min(buffer.count, $0 - deliveredBytes) } ?? buffer.count
    guard room > 0 else { return 0 }
    let target = UnsafeMutableRawBufferPointer(rebasing: buffer[..<room])
    do {
      let count: Int?
      switch source {
      case .file(let file, _): count = try file.read(into: target, at: deliveredBytes)
      case .stream(let stream): count = try pull(stream, into: target)
      }
      return try deliver(count)
    } catch let error as TransportError {
      failure = error
    } catch {
      failure = TransportError(.bodyFile, "the request body could not be produced: \(error)")
    }
    return Int(CURL_READFUNC_ABORT)
  }

  /// Moves back for a second sending; returns false for a body that a producer makes, because it is made only once.
  func seek(to offset: Int) -> Bool {
    if offset == deliveredBytes { return true }
    guard case .file = source else { return false }
    deliveredBytes = offset
    return true
  }

  private func deliver(_ count: Int?) throws(TransportError) -> Int {
    guard let count else {
      isStarved = true
      return Int(CURL_READFUNC_PAUSE)
    }
    deliveredBytes += count
    guard count == 0, let byteCount, deliveredBytes < byteCount else { return count }
    throw TransportError(.bodyFile, "the request body ended after \(deliveredBytes) of \(byteCount) bytes")
  }

  /// 0 at the end, nil if the producer returned an empty piece.
  private func pull(_ stream: BodyStream, into buffer: UnsafeMutableRawBufferPointer) throws -> Int? {
    if rest.isEmpty {
      guard let piece = try stream.read(buffer.count) else { return 0 }
      guard !piece.isEmpty else { return nil }
      if let byteCount, deliveredBytes + piece.count > byteCount {
        throw TransportError(.bodyFile, "the request body is longer than the \(byteCount) bytes it announced")
      }
      rest = piece[...]
    }
    let count = min(rest.count, buffer.count)
    buffer.copyBytes(from: rest.prefix(count))
    rest = rest.dropFirst(count)
    return count
  }
}

extension Request {
  /// Whether libcurl pulls the body piece by piece.
  var hasUpload: Bool {
    switch body {
    case .empty, .bytes: false
    case .file, .stream: true
    }
  }
}

/// An open file that is sent; closed when its last user releases it.
final class UploadFile {
  private let file: FileDescriptor
  private let path: String

  init(_ body: FileBody) throws(TransportError) {
    path = body.path
    // If the file was replaced by a FIFO, opening it would block the loop.
    guard let file = FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK | O_NOCTTY) else {
      throw TransportError(
        .bodyFile, "cannot open \(path) to send it: \(SystemError.text(errno))\(SystemError.advice(errno))",
        isBeforeSending: true)
    }
    guard file.status()?.isRegularFile == true else {
      throw TransportError(.bodyFile, "the body in \(path) is not a regular file", isBeforeSending: true)
    }
    self.file = file
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(TransportError) -> Int {
    while true {
      let count = pread(file.raw, buffer.baseAddress, buffer.count, off_t(offset))
      if count >= 0 { return count }
      guard errno == EINTR else { throw TransportError(.bodyFile, "cannot read \(path): \(SystemError.text(errno))") }
    }
  }
}
