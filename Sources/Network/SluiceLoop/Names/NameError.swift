/// Why a name has no address.
package struct NameError: Error, Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    /// The resolver answered: the name has no address.
    case noAddress
    /// The resolver had no answer this time.
    case noAnswer
    /// This process could not ask the resolver, because a limit was reached.
    case notAsked
  }

  package let kind: Kind
  /// The system's message.
  package let reason: String

  package init(_ reason: String, _ kind: Kind = .noAddress) {
    self.kind = kind
    self.reason = reason
  }

  /// How long later questions for the name get this failure without a look-up. This time is short, so that a repaired
  /// name works soon; it is zero if no look-up was made.
  var memory: Duration {
    switch kind {
    case .noAddress: .seconds(1)
    case .noAnswer: .milliseconds(100)
    case .notAsked: .zero
    }
  }

  /// The reason, and what the user can do about it.
  package var advice: String {
    kind == .notAsked ? reason : "\(reason); check the name, and the resolver of this machine"
  }
}
