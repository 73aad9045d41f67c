import Glibc
package import SluiceMessages
package import SluicePipeline

/// A request body that is read piece by piece while it is sent: from a file, or from a producer.
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
  /// The error of the last read, if it threw one.
  package private(set) var failure: TransportError?
  /// Whether the producer has no data for now and must be asked again later.
  package private(set) var isStarved = false

  /// The trailers with which the request began.
  private let givenTrailers: SharedValue<HeaderFields>?

  /// Opens the file of the request's body, if there is one. Returns nil if the body is in memory.
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
  /// - Returns: the number of bytes; 0 at the end of the body; nil if the producer has no data for now.
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

  /// The fields that follow the body, which are known after its end; nil if there are none.
  package var trailers: HeaderFields? {
    if case .stream(let stream) = source, let last = stream.trailers { return last() }
    return givenTrailers?.value
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

  /// Returns the number of bytes, 0 at the end of the body, or nil if the producer returned an empty piece.
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
  /// Whether `Content-Length: 0` is sent if there is no body (RFC 9110 §8.6).
  package static func expectsBody(_ method: String) -> Bool {
    // The length is compared first, so that GET, the most frequent method, costs only one more comparison.
    switch method.utf8.count {
    case 3: method == "PUT"
    case 4: method == "POST"
    case 5: method == "PATCH"
    default: false
    }
  }
}
