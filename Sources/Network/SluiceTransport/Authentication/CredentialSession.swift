import SluiceMessages
import SluicePipeline

/// Computes the credentials headers for later hops of the same attempt that go to the same origin. This is necessary
/// because a digest is valid for only one request. The exchange stores the session. Confined to the loop of the
/// exchange.
final class CredentialSession {
  /// The value that was sent last.
  var value: String?
  private let credentials: Credentials
  private let origin: Origin
  private let attempt: Int
  private let status: Int
  /// The answers of this attempt to this origin and status, including this one. The server has refused the earlier
  /// ones.
  private let answered: [Answer]
  private var digest: DigestChallenge?
  /// The number of requests with this nonce so far.
  private var count: UInt32 = 0
  private let clientNonce: String

  private struct Answer: Hashable {
    let credentials: Credentials
    let url: HTTPURL
  }

  /// - Parameter before: the session whose answer the server has refused.
  init(
    _ credentials: Credentials, digest: DigestChallenge?, status: Int, after before: CredentialSession?,
    on exchange: Exchange
  ) {
    self.credentials = credentials
    self.digest = digest
    self.status = status
    origin = exchange.requestForms.native.url.origin
    attempt = exchange.attempt
    answered = (before?.answered ?? []) + [Answer(credentials: credentials, url: exchange.requestForms.native.url)]
    clientNonce = digest == nil ? "" : TransactionID(using: &exchange.loop.random).description
  }

  /// The keys under which an exchange stores the session of the server and that of the proxy.
  private final class Key: Sendable {
    static let server = Key()
    static let proxy = Key()

    static func of(_ status: Int) -> Key { status == 407 ? proxy : server }
  }

  /// The session of the server (401) or of the proxy (407).
  static func of(_ exchange: Exchange, _ status: Int) -> CredentialSession? {
    exchange.attachments[Key.of(status)] as? CredentialSession
  }

  func keep(on exchange: Exchange) { exchange.attachments[Key.of(status)] = self }

  func isFor(_ exchange: Exchange) -> Bool {
    attempt == exchange.attempt && origin == exchange.requestForms.native.url.origin
  }

  /// Whether these credentials were refused for the URL. The server has then refused the user or the password, and
  /// would refuse them in the answer to another of its challenges too.
  func isRefused(_ credentials: Credentials, _ url: HTTPURL) -> Bool {
    answered.contains(Answer(credentials: credentials, url: url))
  }

  /// Whether the last answer was to a challenge of this realm, for whatever URL.
  func hasAnswered(_ challenge: DigestChallenge, _ credentials: Credentials) -> Bool {
    digest?.realm == challenge.realm && self.credentials == credentials
  }

  /// Whether Basic was sent last, for whatever URL.
  func isBasic(_ credentials: Credentials) -> Bool { digest == nil && self.credentials == credentials }

  /// The value of the credentials header for a request; nil if the hash is not available.
  func answer(_ request: Request) -> String? {
    guard let digest else { return value }
    count += 1
    value = digest.answer(credentials, request.method, request.url.requestTarget, count, clientNonce)
    return value
  }

  /// Replaces the credentials header of a request to the same origin, and uses the next nonce if the server has sent
  /// one (RFC 7616 §3.5).
  func renew(_ request: inout Request, on exchange: Exchange) {
    guard status == 401, isFor(exchange), request.url.origin == origin, let value, digest != nil,
      request.headers["authorization"] == value
    else { return }
    if let next = Self.nextNonce(exchange), next != digest?.nonce {
      digest?.nonce = next
      count = 0
    }
    request.headers.remove("authorization")
    guard let value = answer(request) else { return }
    request.headers.append("Authorization", value, marks: [.sensitive, .addedByStage])
  }

  private static func nextNonce(_ exchange: Exchange) -> String? {
    guard let information = exchange.responseForms.native?.headers["authentication-info"] else { return nil }
    return Challenge.parameters(of: information)?.first { $0.name.lowercased() == "nextnonce" }?.value
  }
}
