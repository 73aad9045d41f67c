import SluiceMessages

/// When the engine itself makes another attempt, if no stage has decided.
///
/// It decides about the final status after the response stages have run, and without a response after the failure
/// stages have.
public struct RetryPolicy: Sendable, Hashable {
  /// Final statuses after which another attempt is made.
  public var statuses: StatusSet
  /// Methods whose requests may reach a server twice; case-sensitive.
  public var methods: [String]
  /// Failures without a response after which another attempt is made.
  public var connectionErrors: ConnectionErrors
  /// The wait before another attempt. A longer `Retry-After` of the server is respected.
  public var backoff: Backoff
  /// Repetitions allowed for each transaction: 0.2 allows one for every five transactions of a loop. Each loop has ten
  /// to begin with, and gets back one a second up to ten.
  public var budget: Double

  /// By default no status, and of the failures only a connection that was dead already.
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

  /// Requests of which several have the effect of one (RFC 9110 §9.2.2).
  public static let idempotentMethods = ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"]

  /// The statuses of overloaded and restarting servers, and every failure of a connection.
  public static let standard = RetryPolicy(
    statuses: StatusSet([429...429, 502...504]), connectionErrors: .always)

  /// The failures of a connection after which another attempt is made.
  public enum ConnectionErrors: Sendable, Hashable {
    case never
    /// A connection that was kept had been closed by the server, so that libcurl would have sent the request again.
    case deadConnection
    /// The name was not resolved, no connection was established, the connection broke, or the attempt took too long.
    case always
  }

  var concernsFailures: Bool { connectionErrors != .never }

  /// Whether another attempt may mend that failure.
  func wants(_ failure: TransactionError) -> Bool {
    guard failure.stage == nil else { return false }
    switch connectionErrors {
    case .never: return false
    case .deadConnection: return failure.code == .resent
    case .always: return Self.connectionCodes.contains { $0 == failure.code }
    }
  }

  private static let connectionCodes: [ErrorCode] = [
    .nameLookup, .connect, .connectTimeout, .connectionLost, .timeout, .resent,
  ]
}
