import SluiceAssembly
import SluiceClient
import SluiceEngine
import SluiceMessages
import SluicePipeline
import SluicePlugin
import SluiceSupport

/// Notes where redirects lead, for the URL of the response, and ends the upload with its transaction. Asked after the
/// caller's delegate.
final class CallObserver: TransactionDelegate {
  private let urls: Locked<[HTTPURL]>
  private let upload: ProducedBody?

  init(_ first: HTTPURL, _ upload: ProducedBody?) {
    urls = Locked([first])
    self.upload = upload
  }

  /// The URL from which a response came. A redirect that is itself the response was not followed after all.
  func last(_ response: Response) -> HTTPURL? {
    urls.withLock { urls in
      Redirect.isRedirect(response.status) && urls.count > 1 ? urls[urls.count - 2] : urls.last
    }
  }

  func transaction(_ context: ResponseContext, willFollow redirect: Redirect) async throws -> RedirectDecision {
    urls.withLock { $0.append(redirect.url) }
    return .follow
  }

  func transactionDidComplete(_ result: TransactionResult) { upload?.stop() }
}
