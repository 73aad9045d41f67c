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
  private var digest: DigestChallenge?
  /// The number of requests with this nonce so far.
  private var count: UInt32 = 0
  private let clientNonce: String

  init(_ credentials: Credentials, digest: DigestChallenge?, status: Int, on exchange: Exchange) {
    self.credentials = credentials
    self.digest = digest
    self.status = status
    origin = exchange.nativeRequest.url.origin
    attempt = exchange.attempt
    clientNonce = digest == nil ? "" : TransactionID(using: &exchange.loop.random).description
  }

  /// The key under which an exchange stores the session.
  private final class Key: Sendable {
    static let shared = Key()
  }

  static func of(_ exchange: Exchange) -> CredentialSession? { exchange.attachments[Key.shared] as? CredentialSession }

  func keep(on exchange: Exchange) { exchange.attachments[Key.shared] = self }

  func isFor(_ exchange: Exchange, _ status: Int) -> Bool {
    attempt == exchange.attempt && origin == exchange.nativeRequest.url.origin && self.status == status
  }

  func hasAnswered(_ challenge: DigestChallenge, _ credentials: Credentials) -> Bool {
    digest?.realm == challenge.realm && self.credentials == credentials
  }

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
    guard status == 401, isFor(exchange, status), request.url.origin == origin, let value, digest != nil,
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
    guard let information = exchange.nativeResponse?.headers["authentication-info"] else { return nil }
    return Challenge.parameters(of: information)?.first { $0.name.lowercased() == "nextnonce" }?.value
  }
}

extension HTTPURL {
  /// Path and query, as in the request line (RFC 9112 §3.2.1).
  var requestTarget: String { query.map { "\(path)?\($0)" } ?? path }
}
