import SluiceRecords

/// What a result has of a journal and a recording.
final class ResultNotes: Sendable {
  let calls: [StageCall]?
  let exchange: RecordedExchange?

  init(_ calls: [StageCall]?, _ exchange: RecordedExchange?) {
    self.calls = calls
    self.exchange = exchange
  }
}
