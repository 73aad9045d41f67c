import SluicePipeline
package import SluiceTrial
import SluiceTransport

extension ReplayRun {
  /// Replays the request's exchanges without sending anything. The transport only reads the bodies that are in files.
  package static func perform(_ request: TrialRequest, _ channel: TrialChannel) {
    perform(request, channel) { loop, settings throws(TransportError) in
      try HTTPTransport(loop: loop, settings: settings)
    }
  }
}
