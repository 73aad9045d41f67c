/// The class of a final status: its first digit, or `none` without a status.
package enum StatusClass: Int, Sendable, Hashable, CaseIterable {
  /// No response, or a status outside 100…599.
  case none = 0
  case informational = 1
  case success = 2
  case redirection = 3
  case clientError = 4
  case serverError = 5

  package init(status: Int) { self = StatusClass(rawValue: status / 100) ?? .none }

  /// `1xx` … `5xx`, or `none`.
  package var text: String { self == .none ? "none" : "\(rawValue)xx" }
}

/// The outcome of a transaction, as the metrics count it.
public enum OutcomeClass: Int, Sendable, Hashable, CaseIterable {
  case succeeded = 0
  case failed = 1
  case cancelled = 2
}
