import CSluice

/// The right to complete something once. A value that is never dereferenced, so a stale or forged token is harmless.
struct CompletionToken: Sendable, Hashable {
  let slot: UInt32
  let generation: UInt32
  let nonce: UInt64

  init(slot: UInt32, generation: UInt32, nonce: UInt64) {
    self.slot = slot
    self.generation = generation
    self.nonce = nonce
  }

  init(_ completion: sluice_completion) {
    self.init(slot: completion.slot, generation: completion.generation, nonce: completion.nonce)
  }
}

extension sluice_completion {
  init(_ token: CompletionToken) {
    self.init(slot: token.slot, generation: token.generation, nonce: token.nonce)
  }
}
