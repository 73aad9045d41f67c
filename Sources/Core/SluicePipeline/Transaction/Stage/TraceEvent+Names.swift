extension TraceEvent.Kind: CaseIterable {
  package static let allCases: [TraceEvent.Kind] = [
    .willExecute, .didConfigure, .didIssue, .didReceive, .didValidateResponse, .didExtract, .didValidatePayload,
    .didComplete, .didReceiveInformational, .willRetry, .willRedirect, .didEndHop,
    .didEndSpan,
  ]

  /// The name of the kind in a log.
  package var name: String {
    switch self {
    case .willExecute: "will_execute"
    case .didConfigure: "did_configure"
    case .didIssue: "did_issue"
    case .didReceive: "did_receive"
    case .didValidateResponse: "did_validate_response"
    case .didExtract: "did_extract"
    case .didValidatePayload: "did_validate_payload"
    case .didComplete: "did_complete"
    case .didReceiveInformational: "did_receive_informational"
    case .willRetry: "will_retry"
    case .willRedirect: "will_redirect"
    case .didEndHop: "did_end_hop"
    case .didEndSpan: "did_end_span"
    }
  }

  /// The kind with that name.
  package init?(name: String) {
    guard let kind = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = kind
  }
}
