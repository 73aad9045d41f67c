import SluiceAssembly
import SluiceClient
import SluiceMessages
import SluicePipeline
import SluicePlugin
import SluiceSupport

/// Notes where redirects lead, for the URL of the response, tells the watch that something happens, and ends the upload
/// with its transaction. Asked after the caller's delegate.
final class CallObserver: TransactionDelegate {
  private let urls: Locked<[HTTPURL]>
  private let watch: IdleWatch
  private let upload: ProducedBody?

  init(_ first: HTTPURL, _ watch: IdleWatch, _ upload: ProducedBody?) {
    urls = Locked([first])
    self.watch = watch
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

  func transaction(_ id: TransactionID, didSend progress: TransferProgress) { watch.touch() }

  func transaction(_ id: TransactionID, didReceive progress: TransferProgress) { watch.touch() }

  func transaction(_ id: TransactionID, didReceiveInformational status: Int, headers: HeaderFields) { watch.touch() }

  func transaction(_ id: TransactionID, didEndHop metrics: HopMetrics) { watch.touch() }

  func transactionDidComplete(_ result: TransactionResult) { upload?.stop() }
}
