import SluiceMessages
import SluicePipeline

/// The bytes of a form, whose files are read while it is sent.
struct MultipartPieces: AsyncSequence, Sendable {
  let segments: [MultipartForm.Segment]

  var byteCount: Int {
    segments.reduce(0) { sum, segment in
      switch segment {
      case .bytes(let bytes): sum + bytes.count
      case .file(let file): sum + file.byteCount
      }
    }
  }

  struct AsyncIterator: AsyncIteratorProtocol {
    var rest: ArraySlice<MultipartForm.Segment>
    var file: HeldFile?

    mutating func next() async throws -> [UInt8]? {
      while true {
        if let piece = try await file?.next() { return piece }
        file = nil
        switch rest.popFirst() {
        case .bytes(let bytes): return bytes
        case .file(let body): file = HeldFile(body)
        case nil: return nil
        }
      }
    }
  }

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: segments[...]) }
}
