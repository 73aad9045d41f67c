import SluiceLoop
import SluicePipeline

/// One loop of a pipeline in a foreign program, and the objects that belong to it. Threads of the program that make
/// transfers at the same time take different lanes.
///
/// Unchecked because of `pipeline`, which only the thread inside of the loop reads and replaces.
final class AttachedLane: @unchecked Sendable {
  let loop: CallerLoop
  let environment: LoopEnvironment
  let transport = AttachedTransport()
  let urls = LastURL()
  /// The pipeline for new transactions.
  var pipeline: Pipeline

  init(index: Int, pipeline: Pipeline, _ callOuts: CallOutService) {
    loop = CallerLoop(index: index)
    environment = LoopEnvironment(loop: loop, transport: transport)
    environment.callOutTransport = CallOutTransport(loop, callOuts, besides: transport)
    self.pipeline = pipeline
  }
}
