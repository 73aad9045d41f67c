/// Decides when the engine itself makes another attempt, if no stage has decided.
///
/// It decides about a final status after the response stages, and about a missing response after the failure stages.
public struct RetryPolicy: Sendable, Hashable {
  /// Final statuses after which another attempt is made.
  public var statuses: StatusSet
  /// The methods of requests that are allowed to reach a server twice; case-sensitive.
  public var methods: [String]
  /// Failures without a response after which another attempt is made.
  public var connectionErrors: ConnectionErrors
  /// The wait before another attempt. A longer `Retry-After` of the server is respected.
  public var backoff: Backoff
  /// Retries allowed for each transaction: 0.2 allows one for every five transactions of a loop. Each loop begins with
  /// ten retries, and gains one per second while it has fewer than ten.
  public var budget: Double
  /// Whether another attempt is made after failures of any kind, except failures of stages and failures from the
  /// caller's own limits.
  package var coversEveryFailure = false
  /// How long after the beginning of the transaction another attempt can still be decided on. With nil, only the
  /// deadline sets a limit.
  package var window: Duration?

  /// By default, another attempt is made only if a kept connection was already dead.
  public init(
    statuses: StatusSet = StatusSet([]), methods: [String] = RetryPolicy.idempotentMethods,
    connectionErrors: ConnectionErrors = .deadConnection, backoff: Backoff = Backoff(), budget: Double = 0.2
  ) {
    self.statuses = statuses
    self.methods = methods
    self.connectionErrors = connectionErrors
    self.backoff = backoff
    self.budget = budget
  }

  /// The idempotent methods: several such requests have the effect of one (RFC 9110 §9.2.2).
  public static let idempotentMethods = ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"]

  /// The statuses of overloaded and restarting servers, and every failure of a connection.
  public static let standard = RetryPolicy(
    statuses: StatusSet([429...429, 502...504]), connectionErrors: .always)

  /// The failures of a connection after which another attempt is made.
  public enum ConnectionErrors: Sendable, Hashable {
    case never
    /// Only if the server had closed a connection that was kept after an earlier request.
    case deadConnection
    /// The name was not resolved, no connection was established, the connection broke, or the attempt took too long.
    case always
  }
}
