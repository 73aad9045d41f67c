import SluiceAssembly
import SluicePipeline

/// Tells the command what was done for a transfer. From any thread.
protocol Reporter: Sendable {
  func report(_ result: TransactionResult)
  func log(_ line: LogLine)
}
