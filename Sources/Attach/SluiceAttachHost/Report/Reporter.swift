import SluiceAssembly
import SluicePipeline

/// Reports log lines and results of transfers to the command. From any thread.
protocol Reporter: Sendable {
  func report(_ result: TransactionResult)
  func log(_ line: LogLine)
}
