import SluiceClient
import Sluice

/// Accepts only servers that have one of these keys.
struct PinnedKeys: ServerTrustDelegate {
  /// The SHA-256 of each SubjectPublicKeyInfo.
  let hashes: Set<[UInt8]>

  func transaction(_ context: RequestContext, didReceive trust: ServerTrust) async throws -> ServerTrustDecision {
    hashes.contains(trust.keyHash) ? .performDefaultHandling : .refuse
  }
}
