import Glibc
import SluicePlugin

/// The state that all instances of one configuration share, even instances of different builds during a hot swap. It
/// consists of the token, and of a lease that decides which instance requests the next token.
///
///     lease free ─► taken ─► endpoint ─► token published ─► released
///     lease held ─► wait ─► another token there? take it : try again
struct TokenShare: Sendable {
  private enum Lease {
    case taken(version: UInt64)
    case held
    /// The host cannot share values, or has no more room; each instance then gets its own token.
    case unavailable
  }

  private let host: PluginHost
  private let tokenName: String
  private let leaseName: String
  /// A lease that is not released expires after this time.
  private let leaseTime: Duration
  /// Rotated refresh tokens outlive the access token that came with them.
  private let keepsExpired: Bool

  private static let firstPause = Duration.milliseconds(5)
  private static let longestPause = Duration.milliseconds(100)

  /// - Parameter digest: the digest of the configuration.
  init(_ digest: String, _ request: GrantRequest, _ host: PluginHost) {
    self.host = host
    tokenName = "token " + digest
    leaseName = "lease " + digest
    leaseTime = request.timeout + .seconds(5)
    keepsExpired = request.grant == .refreshToken
  }

  /// The token that was last published, with its remaining lifetime; nil without a token, or if the token has expired.
  var grant: TokenGrant? {
    guard let document, let token = document["access_token"]?.string else { return nil }
    var lifetime: Duration?
    if let expiry = document["expiry"]?.integer {
      lifetime = .nanoseconds(expiry) - Self.now
      guard lifetime.map({ $0 > .zero }) == true else { return nil }
    }
    return TokenGrant(accessToken: token, lifetime: lifetime, refreshToken: document["refresh_token"]?.string)
  }

  /// Returns a token that the caller does not know yet: the token of another instance, or a new one. Only one instance
  /// at a time sends a request to the endpoint.
  ///
  /// - Parameter ask: requests a token; its parameter is the last published refresh token.
  /// - Returns: the token, and whether this instance has requested it.
  func newGrant(
    isKnown: (String) -> Bool, _ ask: (_ refreshToken: String?) async throws(StageFailure) -> TokenGrant
  ) async throws(StageFailure) -> (grant: TokenGrant, isOwn: Bool) {
    var pause = Self.firstPause
    while true {
      if let grant, !isKnown(grant.accessToken) { return (grant, false) }
      switch takeLease() {
      case .unavailable: return (try await ask(refreshToken), true)
      case .held:
        do { try await host.sleep(for: pause) } catch { return (try await ask(refreshToken), true) }
        pause = min(pause * 2, Self.longestPause)
      case .taken(let version):
        defer { host.shared.remove(leaseName, version: version) }
        // The previous holder of the lease may have published a token just now.
        if let grant, !isKnown(grant.accessToken) { return (grant, false) }
        let grant = try await ask(refreshToken)
        publish(grant)
        return (grant, true)
      }
    }
  }

  private var refreshToken: String? { document?["refresh_token"]?.string }

  private var document: JSONValue? {
    host.shared[tokenName].flatMap { try? JSONValue(parsing: $0.bytes) }
  }

  private func takeLease() -> Lease {
    do throws(StageFailure) {
      switch try host.shared.exchange(leaseName, expected: nil, desired: [], for: leaseTime) {
      case .exchanged(let version): return .taken(version: version)
      case .differs: return .held
      }
    } catch { return .unavailable }
  }

  /// Publishes a token. If the host has no room for it, the other instances request their own tokens.
  private func publish(_ grant: TokenGrant) {
    let document: JSONValue = ["access_token": JSONValue(grant.accessToken)]
    if let lifetime = grant.lifetime {
      document["expiry"] = JSONValue(Int64(clamping: (Self.now + lifetime).nanoseconds))
    }
    if let token = grant.refreshToken ?? refreshToken { document["refresh_token"] = JSONValue(token) }
    guard let text = try? document.serializedText() else { return }
    _ = try? host.shared.set(tokenName, to: Array(text.utf8), for: keepsExpired ? nil : grant.lifetime)
  }

  /// The time since the machine started, including sleep, which is the same for all builds in the process.
  private static var now: Duration {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}
