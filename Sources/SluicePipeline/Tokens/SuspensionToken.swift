/// The right to resume a suspended call, once. A value: never dereferenced, so a stale or forged one harms nothing.
package struct SuspensionToken: Sendable, Hashable {
  /// The loop's index in the upper 8 bits, the slot in that loop's table below.
  package let slot: UInt32
  package let generation: UInt32
  package let nonce: UInt64

  package init(slot: UInt32, generation: UInt32, nonce: UInt64) {
    self.slot = slot
    self.generation = generation
    self.nonce = nonce
  }

  package var loopIndex: Int { Int(slot >> 24) }
}

/// What became of a resumption.
package enum ResumeAnswer: Sendable, Hashable {
  /// This call won; the transaction goes on.
  case accepted
  /// Another call had resumed the token.
  case already
  /// The token is late, forged, or from something that is over.
  case stale
}
