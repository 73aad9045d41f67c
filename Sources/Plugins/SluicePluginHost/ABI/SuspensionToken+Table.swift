import CSluice
import SluicePipeline

extension SuspensionToken {
  init(_ token: sluice_token) {
    self.init(slot: token.slot, generation: token.generation, nonce: token.nonce)
  }

  /// All zero: no token.
  var isNone: Bool { slot == 0 && generation == 0 && nonce == 0 }
}

extension sluice_token {
  init(_ token: SuspensionToken) {
    self.init(slot: token.slot, generation: token.generation, nonce: token.nonce)
  }
}
