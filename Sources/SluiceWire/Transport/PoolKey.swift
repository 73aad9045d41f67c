import SluiceMessages

/// What the connections of a pool have in common.
struct PoolKey: Hashable {
  let origin: Origin
  /// Whether delegates decide about the server, in addition to the trusted authorities.
  let asksTrust: Bool
}
