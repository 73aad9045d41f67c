import Glibc
package import SluiceMessages
package import SluicePipeline

/// A request body that is pulled piece by piece while it is sent: a file, or what a producer makes.
package final class Upload {
  private enum Source {
    case file(UploadFile, FileBody)
    case stream(BodyStream)
  }

  private let source: Source
  package let byteCount: Int?
  package private(set) var deliveredBytes = 0
  /// The rest of a piece that did not fit into a buffer.
  private var rest: ArraySlice<UInt8> = []
  /// Why the last read threw.
  package private(set) var failure: TransportError?
  /// The producer has no data for now and is asked again later.
  package private(set) var isStarved = false

  /// The trailers with which the request began.
  private let givenTrailers: SharedValue<HeaderFields>?

  /// nil for a body that is in memory.
  package init?(_ request: borrowing Request) throws(TransportError) {
    givenTrailers = request.sharedTrailers
    switch request.body {
    case .empty, .bytes: return nil
    case .file(let file):
      source = .file(try UploadFile(file), file)
      byteCount = file.byteCount
    case .stream(let stream):
      source = .stream(stream)
      byteCount = stream.byteCount
    }
  }

  /// Fills the buffer, or a part of it.
  ///
  /// - Returns: how many bytes; 0 at the end of the body, nil if the producer has no data for now.
  /// - Throws: if the file or the producer fails, or does not have the length that it announced.
  package func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransportError) -> Int? {
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
    } catch {
      let error =
        error as? TransportError ?? TransportError(.bodyFile, "the request body could not be produced: \(error)")
      failure = error
      throw error
    }
  }

  /// The fields that follow the body, after its end; nil if there are none.
  package var trailers: HeaderFields? {
    if case .stream(let stream) = source, let last = stream.trailers { return last() }
    return givenTrailers?.value
  }

  /// Moves back for a second sending; returns false for a body that a producer makes, because it is made only once.
  package func seek(to offset: Int) -> Bool {
    if offset == deliveredBytes { return true }
    guard case .file = source else { return false }
    deliveredBytes = offset
    return true
  }

  private func deliver(_ count: Int?) throws(TransportError) -> Int? {
    guard let count else {
      isStarved = true
      return nil
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
  /// Whether the body is pulled piece by piece.
  package var hasUpload: Bool {
    switch body {
    case .empty, .bytes: false
    case .file, .stream: true
    }
  }

  /// Whether `Content-Length: 0` is sent if there is no body (RFC 9110 §8.6).
  package static func expectsBody(_ method: String) -> Bool {
    // GET, the most frequent method, costs one comparison of lengths.
    switch method.utf8.count {
    case 3: method == "PUT"
    case 4: method == "POST"
    case 5: method == "PATCH"
    default: false
    }
  }
}
