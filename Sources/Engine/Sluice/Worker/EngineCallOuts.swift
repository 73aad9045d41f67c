import SluicePipeline
import SluiceSupport

final class EngineCallOuts: CallOutLog {
  private let recent = Locked(RecentCallOuts())

  func note(_ call: RecordedCallOut) { recent.withLock { $0.append(call) } }
  func takeAll() -> [RecordedCallOut] { recent.withLock { $0.takeAll() } }
}
