import SluiceMessages
import SluicePipeline

/// What one proxy is told about the user: Basic until it asks for Digest (RFC 7616). Its last challenge is kept, so that
/// later requests have the right answer at once. Only the loop uses it.
final class ProxyAuthorization {
  private let credentials: Credentials
  private var digest: DigestChallenge?
  /// The number of requests with the nonce of the challenge.
  private var count: UInt32 = 0
  private var clientNonce = ""

  init(_ credentials: Credentials) { self.credentials = credentials }

  /// The value of `Proxy-Authorization` for one request. Nil if the proxy takes only Basic and the user contains a
  /// colon, which Basic cannot express (RFC 7617 §2).
  func value(_ method: String, _ target: String) -> String? {
    guard let digest else { return credentials.user.contains(UInt8(ascii: ":")) ? nil : credentials.basic }
    count += 1
    return digest.answer(credentials, method, target, count, clientNonce)
  }

  /// Takes the challenges of a 407 response.
  ///
  /// - Parameter answered: how many earlier challenges to the same request were answered.
  /// - Returns: whether there is an answer that the proxy has not refused.
  func take(_ challenges: [Challenge], answered: Int, _ random: inout RandomBits) -> Bool {
    for challenge in challenges {
      guard let offer = DigestChallenge(challenge), answered == 0 || offer.isStale && answered < Self.maximumAnswers
      else { continue }
      guard offer.nonce != digest?.nonce else { return true }
      let nonce = TransactionID(using: &random).description
      // The user may contain what a field cannot carry.
      guard offer.answer(credentials, "GET", "/", 1, nonce) != nil else { continue }
      (digest, count, clientNonce) = (offer, 0, nonce)
      return true
    }
    guard digest != nil, answered == 0, challenges.contains(where: { $0.isScheme("basic") }) else { return false }
    digest = nil
    return true
  }

  /// A proxy may call a nonce too old only so often for one request.
  private static let maximumAnswers = 3
}
