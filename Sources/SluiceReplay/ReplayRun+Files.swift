import SluicePipeline
package import SluiceTrial
import SluiceWire

extension ReplayRun {
  /// Replays without sending anything; the transport is used only for bodies in files.
  package static func perform(_ request: TrialRequest, _ channel: TrialChannel) {
    perform(request, channel) { loop, settings throws(TransportError) in
      try WireTransport(loop: loop, settings: settings)
    }
  }
}
