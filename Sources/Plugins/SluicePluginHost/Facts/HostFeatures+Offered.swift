import CSluice

extension HostFeatures {
  /// All features of ABI 1. The engine offers them, and they are the default for a host.
  public static let offered: HostFeatures = [
    .suspend, .respond, .retry, .requestBody, .responseBody, .streamedBody, .timers, .callOuts, .metrics, .values,
    .hops, .rewrite, .response, .document, .notifications,
  ]

  /// The features of a host that runs inside a program's own libcurl (`sluice attach`). There, the program gets each
  /// piece of a response body as it arrives, so response bodies are not offered.
  ///
  /// - Parameter runsResponseStages: whether the program gets the head of a response only after the response stages
  ///   have seen it.
  package static func attached(runsResponseStages: Bool) -> HostFeatures {
    let always: HostFeatures = [
      .suspend, .requestBody, .timers, .callOuts, .metrics, .values, .hops, .rewrite, .document,
    ]
    return runsResponseStages ? always.union(.response) : always
  }

  /// The features of the module in Envoy. Envoy itself retries, and follows redirects.
  package static let envoy: HostFeatures = [
    .suspend, .respond, .requestBody, .responseBody, .streamedBody, .timers, .metrics, .values, .hops, .rewrite,
    .response,
    .document,
  ]

  /// A call can be suspended and resumed: `suspend`, `resume`, `enter` and `post`.
  public static let suspend = Self(SLUICE_FEATURE_SUSPEND)
  /// A stage can answer instead of the server: `respond` in `on_request` and `on_failure`.
  public static let respond = Self(SLUICE_FEATURE_RESPOND)
  /// A stage can ask for another attempt: `retry`.
  public static let retry = Self(SLUICE_FEATURE_RETRY)
  /// Whole request bodies for stages that want them, and the functions and documents that read or set them.
  public static let requestBody = Self(SLUICE_FEATURE_REQUEST_BODY)
  /// Whole response bodies for stages that want them, and the functions and documents that read or set them.
  public static let responseBody = Self(SLUICE_FEATURE_RESPONSE_BODY)
  /// Bodies piece by piece: the plugin's table `sluice.body/1`.
  public static let streamedBody = Self(SLUICE_FEATURE_STREAMED_BODY)
  /// The host's table `sluice.timers/1`.
  public static let timers = Self(SLUICE_FEATURE_TIMERS)
  /// Requests that a plugin sends itself: the host's table `sluice.callout/1`.
  public static let callOuts = Self(SLUICE_FEATURE_CALLOUT)
  /// The host's table `sluice.metrics/1`.
  public static let metrics = Self(SLUICE_FEATURE_METRICS)
  /// Numbers that outlive a generation: the host's table `sluice.values/1`.
  public static let values = Self(SLUICE_FEATURE_VALUES)
  /// `on_issue`, `on_redirect` and `on_challenge` for every hop.
  public static let hops = Self(SLUICE_FEATURE_HOPS)
  /// Method and URL can be changed in `on_request`.
  public static let rewrite = Self(SLUICE_FEATURE_REWRITE)
  /// `on_response` and `on_failure` are called, and the caller gets the changed response.
  public static let response = Self(SLUICE_FEATURE_RESPONSE)
  /// The live JSON documents of messages: `json` with all its flags.
  public static let document = Self(SLUICE_FEATURE_DOCUMENT)
  /// Notifications and schedules are delivered: `sluice.completions/1`, and `schedule` of `sluice.timers/1`.
  public static let notifications = Self(SLUICE_FEATURE_NOTIFICATIONS)

  private init(_ bit: Int) { self.init(rawValue: UInt32(bit)) }

  /// The feature for the whole body of one side.
  package static func body(of side: UInt32) -> HostFeatures { side == 0 ? .requestBody : .responseBody }
}
