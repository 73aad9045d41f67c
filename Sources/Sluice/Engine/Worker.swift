import SluicePipeline
import SluiceTransport
import Synchronization

/// One event loop with what belongs to it.
///
/// Unchecked because of `pipeline`, which is read and replaced on the loop's thread only.
final class Worker: @unchecked Sendable {
  let loop: Loop
  let transport: CurlTransport
  let environment: LoopEnvironment
  /// Requests on their way from another thread to the loop.
  let submitted = Atomic<Int>(0)
  /// What new transactions of this loop run through.
  var pipeline: Pipeline

  init(index: Int, settings: TransportSettings, pipeline: Pipeline) throws(TransportError) {
    loop = try Loop(index: index)
    do { transport = try CurlTransport(loop: loop, settings: settings) } catch {
      loop.shutdown()
      throw error
    }
    environment = LoopEnvironment(loop: loop, transport: transport)
    self.pipeline = pipeline
  }
}
