import SluiceAssembly
import SluiceClient
import SluiceMessages
import SluicePipeline
import SluicePlugin
import SluiceSupport

/// Notes where redirects lead, for the URL of the response, asks the caller's delegate, and ends the upload with its
/// transaction.
final class VisitedURLs: TransactionDelegate {
  private let urls: Locked<[HTTPURL]>
  private let delegate: (any TransactionDelegate)?
  private let upload: SequenceUpload?

  init(_ first: HTTPURL, _ delegate: (any TransactionDelegate)?, _ upload: SequenceUpload?) {
    urls = Locked([first])
    self.delegate = delegate
    self.upload = upload
  }

  /// The URL from which a response came. A redirect that is itself the response was not followed after all.
  func last(_ response: Response) -> HTTPURL? {
    urls.withLock { urls in
      Redirect.isRedirect(response.status) && urls.count > 1 ? urls[urls.count - 2] : urls.last
    }
  }

  func transaction(_ context: ResponseContext, willFollow redirect: Redirect) async throws -> RedirectDecision {
    let decision = try await delegate?.transaction(context, willFollow: redirect) ?? .follow
    if decision == .follow { urls.withLock { $0.append(redirect.url) } }
    return decision
  }

  func transaction(_ context: ResponseContext, didReceive offer: ChallengeOffer) async throws -> ChallengeDecision {
    try await delegate?.transaction(context, didReceive: offer) ?? .performDefaultHandling
  }

  func transactionDidComplete(_ result: TransactionResult) {
    upload?.stop()
    delegate?.transactionDidComplete(result)
  }
}
