import Sluice
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// Keeps what is known about each hop of a request.
final class HopList: TransactionDelegate {
  private let hops = Locked<[HopMetrics]>([])

  /// In order; one hop if nothing was redirected or repeated.
  var all: [HopMetrics] { hops.withLock { $0 } }

  func transaction(_ id: TransactionID, didEndHop metrics: HopMetrics) { hops.withLock { $0.append(metrics) } }
}
