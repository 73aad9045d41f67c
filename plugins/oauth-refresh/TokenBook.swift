import SluicePlugin

/// The tokens, and every decision about them. Calls nothing and reads no clock.
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
    /// The window is full.
    case giveUp
    case fail(StageFailure)
    /// The request does not have one of this plugin's tokens.
    case leave
  }

  private struct Present: Sendable {
    var token: String
    var expiry: Instant?
    /// From this moment on, it is replaced before it is used.
    var due: Instant?
    /// A server answered 401 to it.
    var isRefused = false
  }

  static let failedCode: ErrorCode = "token_refresh_failed"
  private static let rememberedTokens = 16

  private let leeway: Duration
  private var window: RefreshWindow
  private var present: Present?
  private(set) var refreshToken: String?
  /// Earlier tokens, the newest last.
  private var replaced: [String] = []
  /// The last refresh, if it failed.
  private var failure: (token: String?, at: Instant, reason: StageFailure)?
  private var complaint: Instant?

  init(_ settings: Settings) {
    leeway = settings.leeway
    window = settings.window
    refreshToken = settings.refreshToken
    present = settings.accessToken.map { Present(token: $0) }
  }

  /// For a request that is about to go out.
  mutating func beforeRequest(at now: Instant) -> Step {
    if let present, !present.isRefused, present.due.map({ now < $0 }) ?? true { return .use(present.token) }
    if window.admit(at: now) { return .refresh }
    // Sends the current token, about which the server decides; its 401 goes to the caller.
    return present.map { .use($0.token) } ?? .giveUp
  }

  /// For a request that was sent with a token, not before `began`, and answered with 401.
  mutating func afterRefusal(of token: String, usedSince began: Instant, at now: Instant) -> Step {
    guard let present else { return .leave }
    guard present.token == token else { return replaced.contains(token) ? .use(present.token) : .leave }
    // The request was in flight while the refresh of its token failed, so it fails with the same reason.
    if let failure, failure.token == token, failure.at >= began { return .fail(failure.reason) }
    guard window.admit(at: now) else { return .giveUp }
    self.present?.isRefused = true
    return .refresh
  }

  /// After a failed refresh, the current token is still used if it is valid.
  func stillGood(at now: Instant) -> String? {
    guard let present, !present.isRefused, present.expiry.map({ now < $0 }) ?? true else { return nil }
    return present.token
  }

  /// Whether it is the current token or an earlier one.
  func knows(_ token: String) -> Bool { present?.token == token || replaced.contains(token) }

  /// Takes the result of a refresh.
  mutating func take(_ grant: TokenGrant, at now: Instant) {
    if let present, present.token != grant.accessToken {
      replaced.append(present.token)
      if replaced.count > Self.rememberedTokens { replaced.removeFirst() }
    }
    // A leeway of more than half the lifetime would replace each token at its first or second use.
    let due = grant.lifetime.map { now + $0 - min(leeway, $0 / 2) }
    present = Present(token: grant.accessToken, expiry: grant.lifetime.map { now + $0 }, due: due)
    refreshToken = grant.refreshToken ?? refreshToken
    failure = nil
  }

  mutating func note(_ reason: StageFailure, at now: Instant) { failure = (present?.token, now, reason) }

  /// Whether to log that the window is full: once in its duration.
  mutating func mayComplain(at now: Instant) -> Bool {
    if let complaint, complaint.duration(to: now) < window.duration { return false }
    complaint = now
    return true
  }

  var limitText: String { "\(window.limit) refreshes within \(window.duration)" }
}
