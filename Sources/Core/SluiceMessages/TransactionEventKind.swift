/// What an entry in the ledger of a transaction records. The numbers are those of the C interface; later versions can add
/// kinds.
public enum TransactionEventKind: UInt32, Sendable, Hashable, CaseIterable {
  case willExecute = 1
  case didConfigure = 2
  case didIssue = 3
  case didReceive = 4
  case didValidateResponse = 5
  case didExtract = 6
  case didValidatePayload = 7
  case didComplete = 8
  /// An informational (1xx) response.
  case didReceiveInformational = 9
  case willRetry = 10
  case willRedirect = 11
  /// A hop has ended, even if its connection failed: once for each hop that was begun, after its `didReceive`.
  case didEndHop = 12
  /// A span that a stage began has ended; comes before the next event of the transaction.
  case didEndSpan = 13
}

extension TransactionEventKind {
  /// The name of the kind in logs.
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
