import SluiceMessages

/// The body of a request that stages see piece by piece. Envoy's hooks append what has arrived, and take what has passed
/// through the stages.
///
/// Unchecked because it is confined to its lane.
final class RequestPieces: @unchecked Sendable {
  private var bytes: [UInt8] = []
  private var isComplete = false
  /// What has passed through the stages; nil until the request is sent.
  var passed: BodyStream?
  /// Whether everything has passed.
  private(set) var isOver = false
  /// The transaction keeps the source.
  private weak var source: BodyStream?

  /// The body for the transaction.
  func makeBody() -> Body {
    let source = BodyStream { [self] maximum in
      guard !bytes.isEmpty else { return isComplete ? nil : [] }
      let piece = Array(bytes.prefix(maximum))
      bytes.removeFirst(piece.count)
      return piece
    }
    self.source = source
    return .stream(source)
  }

  /// Whether bytes wait for a stage.
  var isHeld: Bool { !bytes.isEmpty || isComplete && !isOver }

  func append(_ piece: [UInt8], isLast: Bool) {
    bytes += piece
    isComplete = isComplete || isLast
    source?.wake()
  }

  /// What has passed through the stages since the last call.
  func take() throws -> [UInt8] {
    var output: [UInt8] = []
    while !isOver, let passed {
      guard let piece = try passed.read(65_536) else {
        isOver = true
        break
      }
      if piece.isEmpty { break }
      output += piece
    }
    return output
  }
}
