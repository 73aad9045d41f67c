// What the transaction tells its journal, where it has one.
extension Transaction {
  func noteCall(_ binding: StageBinding) {
    guard let callback = StageCall.Callback(exchange.phase) else { return }
    journal?.begin(binding.name, callback, exchange)
  }

  func noteAnswer(_ verdict: Verdict) { journal?.end(verdict, exchange) }

  func notePiece(
    _ binding: StageBinding, _ side: MessageSide, _ piece: [UInt8], _ verdict: PieceVerdict, _ output: [UInt8]
  ) {
    journal?.pass(binding.name, side, piece, verdict == .pass ? piece : output, verdict.verdict, exchange)
  }
}
