package import SluiceAssembly
import SluiceCurl
package import SluiceTrial

extension ReplayRun {
  /// Replays with libcurl for the files of bodies; nothing is sent.
  package static func perform(_ request: TrialRequest, _ channel: TrialChannel) {
    perform(request, channel) { loop, settings throws(TransportError) in
      try CurlTransport(loop: loop, settings: settings)
    }
  }
}
