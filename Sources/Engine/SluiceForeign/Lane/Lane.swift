package import SluiceLoop
package import SluicePipeline

/// One loop of a pipeline in a foreign program, and its transport. Threads of the program that have requests at the same
/// time take different lanes.
///
/// Unchecked because only the thread inside of the loop uses `pipeline` and `urls`.
package final class Lane: @unchecked Sendable {
  package let loop: CallerLoop
  package let environment: LoopEnvironment
  package let transport: ForeignTransport
  package let urls = LastURL()
  /// The pipeline for new transactions.
  package internal(set) var pipeline: Pipeline

  init(index: Int, pipeline: Pipeline, callOuts: (CallerLoop, ForeignTransport) -> (any Transport)?) {
    loop = CallerLoop(index: index)
    transport = ForeignTransport()
    environment = LoopEnvironment(loop: loop, transport: transport)
    environment.callOutTransport = callOuts(loop, transport)
    self.pipeline = pipeline
  }
}
