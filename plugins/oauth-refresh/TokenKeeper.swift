import SluicePlugin
import SluiceSupport

/// Carries out the decisions of the ``TokenBook``. Several loops can call it at once; a caller that finds a refresh in
/// progress waits for that refresh.
final class TokenKeeper: Sendable {
  private enum Step {
    case done(TokenBook.Step)
    case wait(Task<String, any Error>)
  }

  private let book: Locked<TokenBook>
  private let refresh: SharedCall<String>
  private let endpoint: TokenEndpoint
  private let share: TokenShare
  private let host: PluginHost

  init(_ book: TokenBook, _ endpoint: TokenEndpoint, _ share: TokenShare, _ host: PluginHost) {
    var book = book
    // Takes the token of the previous build or of another instance.
    if let grant = share.grant { book.take(grant, at: .now) }
    self.book = Locked(book)
    refresh = SharedCall(host)
    self.endpoint = endpoint
    self.share = share
    self.host = host
  }

  /// Waits for a refresh on behalf of one request.
  typealias Wait = (Task<String, any Error>) async throws -> String

  /// Returns the token for a request, after a refresh if one is needed.
  func token(waiting wait: Wait) async throws -> String {
    switch step({ $0.beforeRequest(at: .now) }, waitsFirst: true) {
    case .wait(let refresh):
      do { return try await wait(refresh) } catch {
        if let token = book.withLock({ $0.stillGood(at: .now) }) { return token }
        throw error
      }
    case .done(.use(let token)): return token
    case .done(.fail(let failure)): throw failure
    case .done:
      throw StageFailure(
        code: TokenBook.failedCode,
        message: "no token from \(endpoint.shown): after \(complain()) the endpoint is not asked again")
    }
  }

  /// Whether a refused request can be sent again with another token. If there is no new token yet, refreshes first.
  ///
  /// - Throws: why the refresh failed; all callers that waited for the refresh get the same error.
  func hasReplacement(
    for token: String, usedSince began: ContinuousClock.Instant, waiting wait: Wait
  ) async throws -> Bool {
    switch step({ $0.afterRefusal(of: token, usedSince: began, at: .now) }, waitsFirst: false) {
    case .wait(let refresh):
      _ = try await wait(refresh)
      return true
    case .done(.use): return true
    case .done(.fail(let failure)): throw failure
    case .done(.giveUp):
      if let told = complainOnce() {
        host.log(.warning, "a 401 is passed on: after \(told) \(endpoint.shown) is not asked for another token")
      }
      return false
    case .done: return false
    }
  }

  /// Asks the book for the next step, and starts a refresh if that is the step. While a refresh runs, every new request
  /// waits for it. A request whose token was refused also waits for it, if the refresh replaces that token.
  private func step(_ decide: (inout TokenBook) -> TokenBook.Step, waitsFirst: Bool) -> Step {
    book.withLock { current in
      if waitsFirst, let running = refresh.running { return .wait(running) }
      var book = current
      let step = decide(&book)
      switch step {
      case .refresh, .giveUp, .fail:
        if let running = refresh.running { return .wait(running) }
      case .use, .leave: break
      }
      current = book
      guard step == .refresh else { return .done(step) }
      let refreshToken = book.refreshToken
      return .wait(refresh.start { [self] in try await newToken(refreshToken) })
    }
  }

  private func newToken(_ refreshToken: String?) async throws(StageFailure) -> String {
    do throws(StageFailure) {
      let (grant, isOwn) = try await share.newGrant(isKnown: { token in book.withLock { $0.knows(token) } }) {
        shared throws(StageFailure) in try await endpoint.grant(shared ?? refreshToken, through: host)
      }
      book.withLock { $0.take(grant, at: .now) }
      host.log(
        .info, isOwn ? "got a token from \(endpoint.shown)" : "uses the token that another instance got",
        grant.lifetime.map { ["expires.s": .integer($0.components.seconds)] } ?? [:])
      return grant.accessToken
    } catch {
      book.withLock { $0.note(error, at: .now) }
      host.log(.error, error.message)
      throw error
    }
  }

  private func complain() -> String { book.withLock { $0.limitText } }

  private func complainOnce() -> String? {
    book.withLock { $0.mayComplain(at: .now) ? $0.limitText : nil }
  }
}
