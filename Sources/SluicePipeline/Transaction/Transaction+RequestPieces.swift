import SluiceMessages

// Request bodies that flow through stages on their way out.
extension Transaction {
  /// Puts a stream through the stages in place of the body, where there are stages that change pieces. The length is then
  /// not known before the end, so the request goes out in chunks.
  func routeRequestBody() throws(TransactionError) {
    guard pipeline.changesRequestPieces, !exchange.nativeRequest.body.isEmpty else { return }
    guard pipeline.requestStages.contains(where: { isPieceStage($0, .requestPieces) }) else { return }
    let source = try bodySource()
    let flow = RequestFlow(self, source)
    unroutedBody = exchange.nativeRequest.body
    exchange.nativeRequest.headers.remove("content-length")
    exchange.nativeRequest.body = .stream(BodyStream { maximum in try flow.read(maximum) })
  }

  private func bodySource() throws(TransactionError) -> BodyStream {
    switch exchange.nativeRequest.body {
    case .stream(let stream): return stream
    case .empty: return BodyStream { _ in nil }
    case .bytes(let bytes):
      let rest = Rest(bytes[...])
      return BodyStream { rest.take($0) }
    case .file(let file):
      do { return try environment.transport.stream(of: file) } catch { throw TransactionError(error) }
    }
  }

  /// Takes a piece through the stages from a position on.
  fileprivate func passRequest(_ piece: [UInt8], from start: Int) throws(TransactionError) -> [UInt8] {
    var piece = piece
    for binding in pipeline.requestStages[start...] where isPieceStage(binding, .requestPieces) {
      if piece.isEmpty { break }
      piece = try callRequestPiece(binding, piece)
    }
    return piece
  }

  private func callRequestPiece(_ binding: StageBinding, _ piece: [UInt8]) throws(TransactionError) -> [UInt8] {
    var output: [UInt8] = []
    notes?.journal?.willPass(binding.name, .request)
    let verdict = exchange.inPhase(.request) { exchange in
      binding.interceptor.interceptPiece(exchange, .request, piece, &output)
    }
    if notes != nil { notePiece(binding, .request, piece, verdict, output) }
    switch verdict {
    case .pass: return piece
    case .taken: return output
    case .suspended: throw TransactionError(Self.cannotSuspendRequest, stage: binding.name)
    case .fail(let failure): throw TransactionError(failure, stage: binding.name)
    }
  }

  fileprivate func passRequestEnd() throws(TransactionError) -> [UInt8] {
    var last: [UInt8] = []
    for (index, binding) in pipeline.requestStages.enumerated() where isPieceStage(binding, .requestPieces) {
      var output: [UInt8] = []
      let verdict = exchange.inPhase(.request) { exchange in
        binding.interceptor.interceptBodyEnd(exchange, .request, &output)
      }
      if notes != nil { notePiece(binding, .request, [], verdict == .pass ? .taken : verdict, output) }
      if case .fail(let failure) = verdict { throw TransactionError(failure, stage: binding.name) }
      last += try passRequest(output, from: index + 1)
    }
    return last
  }

  private static let cannotSuspendRequest = StageFailure(
    code: TransactionError.Code.stageFault, message: "it suspended the flow of a request body, which cannot wait")
}

extension Exchange {
  fileprivate func inPhase<Result>(_ phase: Phase, _ body: (Exchange) -> Result) -> Result {
    let before = self.phase
    self.phase = phase
    defer { self.phase = before }
    return body(self)
  }
}

/// A body on its way through the request stages. Confined to the loop, unchecked for that reason.
private final class RequestFlow: @unchecked Sendable {
  private let transaction: Transaction
  private let source: BodyStream
  /// What the stages made beyond what was asked for.
  private var ready: ArraySlice<UInt8> = []
  private var hasEnded = false

  init(_ transaction: Transaction, _ source: BodyStream) {
    self.transaction = transaction
    self.source = source
  }

  func read(_ maximum: Int) throws -> [UInt8]? {
    do {
      while ready.isEmpty, !hasEnded {
        guard let piece = try source.read(maximum) else {
          hasEnded = true
          ready = try transaction.passRequestEnd()[...]
          continue
        }
        if piece.isEmpty { return [] }
        ready = try transaction.passRequest(piece, from: 0)[...]
      }
    } catch let error as TransactionError {
      transaction.hopFailure = error
      throw error
    }
    guard !ready.isEmpty else { return nil }
    let piece = ready.prefix(maximum)
    ready = ready.dropFirst(piece.count)
    return Array(piece)
  }
}

/// Bytes that are taken bit by bit. Confined to the loop, unchecked for that reason.
private final class Rest: @unchecked Sendable {
  private var bytes: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

  func take(_ maximum: Int) -> [UInt8]? {
    guard !bytes.isEmpty else { return nil }
    let piece = bytes.prefix(maximum)
    bytes = bytes.dropFirst(piece.count)
    return Array(piece)
  }
}
