/// The right to resume a suspended call, once. A token is looked up and never dereferenced, so a stale or forged token
/// is harmless.
package struct SuspensionToken: Sendable, Hashable {
  /// The loop's index in the upper 8 bits, and the slot in that loop's table in the lower bits.
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

/// The result of a resumption.
package enum ResumeAnswer: Sendable, Hashable {
  /// This call has resumed the token, and the transaction continues.
  case accepted
  /// Another call has already resumed the token.
  case already
  /// The token is late, forged, or belongs to something that has ended.
  case stale
}
