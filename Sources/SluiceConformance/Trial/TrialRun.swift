import SluicePluginHost
import SluiceJSON

/// The helper: what `sluice` is when a host has started it to try a library out.
package enum TrialRun {
  /// Serves the one request on standard input; gives the exit status. The process must have one thread.
  package static func serve() -> Int32 { TrialSupervisor.run { perform($0, $1) } }

  /// In the child process.
  private static func perform(_ request: TrialRequest, _ channel: TrialChannel) {
    guard request.task != TrialRequest.probe else { return probe(request, channel) }
    guard let check = ConformanceCheck.named(request.task) else {
      return channel.finish(CheckVerdict.failed("there is no check of that name").document)
    }
    channel.finish(CheckRun(request, channel).verdict(of: check).document)
  }

  private static func probe(_ request: TrialRequest, _ channel: TrialChannel) {
    do throws(PluginError) {
      try ProbeRun(request, channel).run()
      channel.finish(["passed": true])
    } catch {
      channel.finish(["error": error.document])
    }
  }
}
