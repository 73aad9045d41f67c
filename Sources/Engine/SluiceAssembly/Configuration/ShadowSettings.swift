/// How an old and a new build replay samples of the traffic before the new build gets live requests; the `swap.shadow`
/// object of a configuration.
package struct ShadowSettings: Sendable, Hashable {
  /// The share of the new transactions that are recorded, in percent.
  package var share = 1.0
  /// The minimum time of the shadow; zero leaves it out.
  package var duration = Duration.seconds(600)
  /// How many samples may be different. One more ends the rollout.
  package var differences = 0
  /// What is not compared, as reports of replays name it: `header x-time`, `body`.
  package var ignored: Set<String> = []

  package init() {}
}
