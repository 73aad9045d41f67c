import SluiceAssembly
import SluiceClient
import Sluice
import SluiceMessages
import SluicePipeline
import SluicePlugin
import SluiceSupport

/// Stores the targets of redirects, which give the URL of the response, and stops the upload when its transaction ends.
/// It is asked after the caller's delegate.
final class CallObserver: TransactionDelegate {
  private let urls: Locked<[HTTPURL]>
  private let upload: ProducedBody?

  init(_ first: HTTPURL, _ upload: ProducedBody?) {
    urls = Locked([first])
    self.upload = upload
  }

  /// The URL of the hop that got the response. If the response is itself a redirect, that redirect was not followed.
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
