import SluiceMessages
import SluicePipeline
import SluiceSupport

/// Answers each hop with the next recorded answer, whatever the request is.
final class ReplayWire: Sendable {
  private let state = Locked<(hops: [RecordedHop], next: Int)>(([], 0))

  /// Sets the hops of another exchange, and begins with the first.
  func begin(_ hops: [RecordedHop]) { state.withLock { $0 = (hops, 0) } }

  func answer() -> StubTransport.Reply {
    state.withLock { state in
      guard state.next < state.hops.count else {
        return .failure(
          Self.notRecorded("the recording has answers to only \(state.hops.count) requests on the wire"))
      }
      defer { state.next += 1 }
      return Self.reply(state.hops[state.next])
    }
  }

  private static func reply(_ hop: RecordedHop) -> StubTransport.Reply {
    if hop.error?.code == .deadline { return stalled(hop) }
    let error = hop.error ?? notRecorded("the recording has no answer to this request")
    guard hop.wasIssued else { return .connectFailure(error) }
    guard let response = hop.response else { return .failure(error) }
    let missing = hop.isBodyWhole ? nil : notRecorded(hop.bodyGap ?? "the body was not recorded completely")
    return .response(response, failure: hop.error ?? missing)
  }

  /// The hop was going on when the deadline of the transaction passed.
  private static func stalled(_ hop: RecordedHop) -> StubTransport.Reply {
    guard hop.wasIssued else { return .noConnection }
    guard var head = hop.response else { return .silence }
    let pieces = head.body.bytes.map { [$0] } ?? []
    head.body = .empty
    head.trailers = HeaderFields()
    return .stalled(head, pieces: pieces)
  }

  private static func notRecorded(_ message: String) -> TransportError {
    TransportError("not_recorded", message)
  }
}
