import SluiceMessages

/// State that few transactions have, behind one reference: otherwise a transaction would be larger than the blocks that
/// the allocator keeps ready, and every request would take longer to begin and to end.
final class RareState {
  /// The connection of the hop, after its transfer has ended; only if such facts are wanted.
  var endedConnection: ConnectionFacts?
  /// What the delegates are being asked about the server of the hop.
  var handshakeQuestion: HandshakeQuestion?
  /// Why a stage, a delegate or a sink ended the hop.
  var hopFailure: TransactionError?
  /// The passage of the body for which a stage is being called.
  var callingPassage: BodyPassage?
  /// Why the policy makes another attempt; nil if a stage asked for it.
  var retryReason: TransactionError?
  /// Why the policy makes no other attempt, although it wanted to make one.
  var retryNote: String?
  /// The original request body, for a hop that needs it again. It is kept only if stages change its pieces.
  var unroutedBody: Body?
  /// The trailers of the request with ``unroutedBody``.
  var unroutedTrailers: SharedValue<HeaderFields>?
  /// The body that the caller streamed, if a stage wanted all of it.
  var gatheredBody: Body?
  /// The hops of this attempt so far; nil until there is a redirect or a challenge.
  var hops: HopState?
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

  var hopFailure: TransactionError? {
    get { rareState?.hopFailure }
    set { rareState(toKeep: newValue)?.hopFailure = newValue }
  }

  var callingPassage: BodyPassage? {
    get { rareState?.callingPassage }
    set { rareState(toKeep: newValue)?.callingPassage = newValue }
  }

  var retryReason: TransactionError? {
    get { rareState?.retryReason }
    set { rareState(toKeep: newValue)?.retryReason = newValue }
  }

  var retryNote: String? {
    get { rareState?.retryNote }
    set { rareState(toKeep: newValue)?.retryNote = newValue }
  }

  var unroutedBody: Body? {
    get { rareState?.unroutedBody }
    set { rareState(toKeep: newValue)?.unroutedBody = newValue }
  }

  var unroutedTrailers: SharedValue<HeaderFields>? {
    get { rareState?.unroutedTrailers }
    set { rareState(toKeep: newValue)?.unroutedTrailers = newValue }
  }

  var gatheredBody: Body? {
    get { rareState?.gatheredBody }
    set { rareState(toKeep: newValue)?.gatheredBody = newValue }
  }

  var hops: HopState? {
    get { rareState?.hops }
    set { rareState(toKeep: newValue)?.hops = newValue }
  }

  /// The object that keeps a value, created when the first value is set. Nil if there is no object yet and the value is
  /// nil.
  private func rareState<Value>(toKeep value: borrowing Value?) -> RareState? {
    if rareState == nil, value != nil { rareState = RareState() }
    return rareState
  }
}
