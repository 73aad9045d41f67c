import SluicePlugin

/// The tokens, and every decision about them. It calls nothing else and reads no clock.
struct TokenBook: Sendable {
  struct Settings: Sendable {
    var accessToken: String?
    var refreshToken: String?
    var leeway: Duration
    var window: RefreshWindow
  }

  typealias Instant = ContinuousClock.Instant

  /// The next step for a request or a refused token.
  enum Step: Sendable, Equatable {
    case use(String)
    case refresh
    /// The limit of refreshes has been reached.
    case giveUp
    case fail(StageFailure)
    /// The request does not carry a token of this plugin, so nothing is done.
    case leave
  }

  private struct Present: Sendable {
    var token: String
    var expiry: Instant?
    /// From this time on, the token is not used, but replaced first.
    var due: Instant?
    /// Whether a server has answered 401 to the token.
    var isRefused = false
  }

  static let failedCode: ErrorCode = "token_refresh_failed"
  private static let rememberedTokens = 16

  private let leeway: Duration
  private var window: RefreshWindow
  private var present: Present?
  private(set) var refreshToken: String?
  /// Earlier tokens, with the newest at the end.
  private var replaced: [String] = []
  /// The failure of the last refresh; nil if it succeeded.
  private var failure: (token: String?, at: Instant, reason: StageFailure)?
  private var complaint: Instant?

  init(_ settings: Settings) {
    leeway = settings.leeway
    window = settings.window
    refreshToken = settings.refreshToken
    present = settings.accessToken.map { Present(token: $0) }
  }

  /// The step for a request that is about to be sent.
  mutating func beforeRequest(at now: Instant) -> Step {
    if let present, !present.isRefused, present.due.map({ now < $0 }) ?? true { return .use(present.token) }
    if window.admit(at: now) { return .refresh }
    // The limit of refreshes is reached. The request gets the current token, and if the server answers 401, the caller
    // gets that answer.
    return present.map { .use($0.token) } ?? .giveUp
  }

  /// Decides what to do when a server has answered 401 to a request.
  /// - Parameters:
  ///   - token: the token that the request carried.
  ///   - began: the request was sent at this time or later.
  mutating func afterRefusal(of token: String, usedSince began: Instant, at now: Instant) -> Step {
    guard let present else { return .leave }
    guard present.token == token else { return replaced.contains(token) ? .use(present.token) : .leave }
    // The refresh of this token failed while the request was in flight, so the request fails for the same reason.
    if let failure, failure.token == token, failure.at >= began { return .fail(failure.reason) }
    guard window.admit(at: now) else { return .giveUp }
    self.present?.isRefused = true
    return .refresh
  }

  /// The current token if it is still valid, to be used after a failed refresh.
  func stillGood(at now: Instant) -> String? {
    guard let present, !present.isRefused, present.expiry.map({ now < $0 }) ?? true else { return nil }
    return present.token
  }

  /// Whether the token is the current one or an earlier one.
  func knows(_ token: String) -> Bool { present?.token == token || replaced.contains(token) }

  /// Takes the result of a refresh.
  mutating func take(_ grant: TokenGrant, at now: Instant) {
    if let present, present.token != grant.accessToken {
      replaced.append(present.token)
      if replaced.count > Self.rememberedTokens { replaced.removeFirst() }
    }
    // With a leeway of more than half the lifetime, each token would be replaced at its first or second use.
    let due = grant.lifetime.map { now + $0 - min(leeway, $0 / 2) }
    present = Present(token: grant.accessToken, expiry: grant.lifetime.map { now + $0 }, due: due)
    refreshToken = grant.refreshToken ?? refreshToken
    failure = nil
  }

  mutating func note(_ reason: StageFailure, at now: Instant) { failure = (present?.token, now, reason) }

  /// Whether to log that the limit of refreshes was reached; true at most once per window.
  mutating func mayComplain(at now: Instant) -> Bool {
    if let complaint, complaint.duration(to: now) < window.duration { return false }
    complaint = now
    return true
  }

  var limitText: String { "\(window.limit) refreshes within \(window.duration)" }
}
