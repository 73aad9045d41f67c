/// The journal and the recording in a result.
final class ResultNotes: Sendable {
  let calls: [StageCall]?
  let exchange: RecordedExchange?

  init(_ calls: [StageCall]?, _ exchange: RecordedExchange?) {
    self.calls = calls
    self.exchange = exchange
  }
}
