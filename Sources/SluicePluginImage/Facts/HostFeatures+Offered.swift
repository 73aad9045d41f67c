import CSluice

extension HostFeatures {
  /// What the engine offers, and the default of a host: all that ABI 1 has.
  public static let offered: HostFeatures = [
    .suspend, .respond, .retry, .requestBody, .responseBody, .streamedBody, .timers, .callOuts, .metrics, .values,
    .hops, .rewrite, .response, .document, .notifications,
  ]

  public static let suspend = Self(SLUICE_FEATURE_SUSPEND)
  public static let respond = Self(SLUICE_FEATURE_RESPOND)
  public static let retry = Self(SLUICE_FEATURE_RETRY)
  public static let requestBody = Self(SLUICE_FEATURE_REQUEST_BODY)
  public static let responseBody = Self(SLUICE_FEATURE_RESPONSE_BODY)
  public static let streamedBody = Self(SLUICE_FEATURE_STREAMED_BODY)
  public static let timers = Self(SLUICE_FEATURE_TIMERS)
  public static let callOuts = Self(SLUICE_FEATURE_CALLOUT)
  public static let metrics = Self(SLUICE_FEATURE_METRICS)
  public static let values = Self(SLUICE_FEATURE_VALUES)
  public static let hops = Self(SLUICE_FEATURE_HOPS)
  public static let rewrite = Self(SLUICE_FEATURE_REWRITE)
  public static let response = Self(SLUICE_FEATURE_RESPONSE)
  public static let document = Self(SLUICE_FEATURE_DOCUMENT)
  public static let notifications = Self(SLUICE_FEATURE_NOTIFICATIONS)

  private init(_ bit: Int) { self.init(rawValue: UInt32(bit)) }

  /// The feature that the whole body of a side takes.
  package static func body(of side: UInt32) -> HostFeatures { side == 0 ? .requestBody : .responseBody }
}
