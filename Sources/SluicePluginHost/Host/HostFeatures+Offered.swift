import CSluice

extension HostFeatures {
  /// What this host does. Not yet: metrics and notifications of plugins; on_redirect and on_challenge.
  public static let offered = HostFeatures(
    rawValue: UInt32(
      SLUICE_FEATURE_SUSPEND | SLUICE_FEATURE_RESPOND | SLUICE_FEATURE_RETRY | SLUICE_FEATURE_REQUEST_BODY
        | SLUICE_FEATURE_RESPONSE_BODY | SLUICE_FEATURE_STREAMED_BODY | SLUICE_FEATURE_TIMERS | SLUICE_FEATURE_VALUES
        | SLUICE_FEATURE_CALLOUT | SLUICE_FEATURE_REWRITE | SLUICE_FEATURE_RESPONSE | SLUICE_FEATURE_DOCUMENT))
}
