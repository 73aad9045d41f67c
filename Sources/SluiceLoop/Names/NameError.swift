/// Why a name has no address.
package struct NameError: Error, Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    /// The resolver answered: the name has no address.
    case noAddress
    /// The resolver had no answer this time.
    case noAnswer
    /// This process could not ask: a limit was reached.
    case notAsked
  }

  package let kind: Kind
  /// In the system's words.
  package let reason: String

  package init(_ reason: String, _ kind: Kind = .noAddress) {
    self.kind = kind
    self.reason = reason
  }

  /// How long others who ask for the name get this failure without a look-up. Short, so that nobody waits for a repaired
  /// name; and nothing where asking costs nothing.
  var memory: Duration {
    switch kind {
    case .noAddress: .seconds(1)
    case .noAnswer: .milliseconds(100)
    case .notAsked: .zero
    }
  }

  /// The reason, and what to do about it.
  package var advice: String {
    kind == .notAsked ? reason : "\(reason); check the name, and the resolver of this machine"
  }
}
