import SluiceMessages

/// State that few transactions have, behind one reference: otherwise a transaction would be larger than the blocks that
/// the allocator keeps ready, and every request would take longer to begin and to end.
final class RareState {
  /// What the delegates are being asked about the server of the hop.
  var handshakeQuestion: HandshakeQuestion?
  /// The passage of the body for which a stage is being called.
  var callingPassage: BodyPassage?
  /// The connection of the hop, after its transfer has ended; only if such facts are wanted.
  var endedConnection: ConnectionFacts?
  /// Why the policy makes no other attempt, although it wanted to make one.
  var retryNote: String?
  /// The body that the caller streamed, if a stage wanted all of it.
  var gatheredBody: Body?
  var attempt = Attempt()

  /// The next attempt begins with a new value.
  struct Attempt {
    /// Why a stage, a delegate or a sink ended the hop.
    var hopFailure: TransactionError?
    /// Why the policy makes another attempt; nil if a stage asked for it.
    var retryReason: TransactionError?
    /// The content of the request, while the hop sends something else in its place: what stages make of its pieces, or
    /// nothing.
    var wholeContent: RequestContent?
    /// The hops so far; nil until there is a redirect or a challenge.
    var hops: HopState?
  }
}

extension Transaction {
  var endedConnection: ConnectionFacts? {
    get { rareState?.endedConnection }
    set { rareState(toKeep: newValue)?.endedConnection = newValue }
  }

  var handshakeQuestion: HandshakeQuestion? {
    get { rareState?.handshakeQuestion }
    set { rareState(toKeep: newValue)?.handshakeQuestion = newValue }
  }

  var callingPassage: BodyPassage? {
    get { rareState?.callingPassage }
    set { rareState(toKeep: newValue)?.callingPassage = newValue }
  }

  var retryNote: String? {
    get { rareState?.retryNote }
    set { rareState(toKeep: newValue)?.retryNote = newValue }
  }

  var gatheredBody: Body? {
    get { rareState?.gatheredBody }
    set { rareState(toKeep: newValue)?.gatheredBody = newValue }
  }

  var hopFailure: TransactionError? {
    get { rareState?.attempt.hopFailure }
    set { rareState(toKeep: newValue)?.attempt.hopFailure = newValue }
  }

  var retryReason: TransactionError? {
    get { rareState?.attempt.retryReason }
    set { rareState(toKeep: newValue)?.attempt.retryReason = newValue }
  }

  var wholeContent: RequestContent? {
    get { rareState?.attempt.wholeContent }
    set { rareState(toKeep: newValue)?.attempt.wholeContent = newValue }
  }

  var hops: HopState? {
    get { rareState?.attempt.hops }
    set { rareState(toKeep: newValue)?.attempt.hops = newValue }
  }

  /// The object that keeps a value, created when the first value is set. Nil if there is no object yet and the value is
  /// nil.
  private func rareState<Value>(toKeep value: borrowing Value?) -> RareState? {
    if rareState == nil, value != nil { rareState = RareState() }
    return rareState
  }
}
