/// How a new build gets a growing part of the traffic; the `swap.canary` object of a configuration.
package struct CanarySettings: Sendable, Hashable {
  /// What decides which build a transaction gets.
  package enum Key: Sendable, Hashable {
    /// Each transaction is drawn by itself.
    case transaction
    /// Transactions whose requests have the same value of this header get the same build. Without the header, a
    /// transaction is drawn by itself.
    case header(String)
  }

  /// What happens after a step in which the new build has had too few transactions for a comparison.
  package enum Silence: String, Sendable, Hashable, CaseIterable {
    case hold, promote
  }

  /// Before the first step, both builds replay samples; nil leaves this out, and so does a duration of zero.
  package var shadow: ShadowSettings?
  /// The shares of the steps, in percent, in ascending order. After the last step, the new build gets everything. Empty
  /// if there is only a shadow.
  package var steps: [Double] = [1, 10, 50]
  /// The minimum time of a step.
  package var hold = Duration.seconds(120)
  package var key = Key.transaction
  /// The minimum number of transactions of the new build in a step.
  package var transactions = 400
  package var comparesLatency = true
  package var onSilence = Silence.hold

  package init() {}

  /// The shares with which the canary serves one after the other; zero during its shadow. Empty if the new builds get
  /// everything at once.
  package var shares: [Double] { (shadow == nil ? [] : [0]) + steps }

  /// The settings with which a canary runs; nil if there is neither a shadow nor a step.
  package var effective: CanarySettings? {
    var settings = self
    if shadow?.duration == .zero { settings.shadow = nil }
    return settings.shares.isEmpty ? nil : settings
  }

  /// The warning about a plugin with a state, after the plugin's name.
  package static let stateWarning = "keeps a state: during a canary, each of its builds has its own"
}

/// Whether a swap begins a canary.
package enum CanaryChoice: Sendable, Hashable {
  /// As the configuration says.
  case configured
  /// The new builds get all new transactions at once.
  case none
  case settings(CanarySettings)
}
