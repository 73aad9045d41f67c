package import SluiceAssembly
import SluiceCurl
package import SluiceTrial

extension ReplayRun {
  /// Replays without sending anything; libcurl's module is used only for bodies in files.
  package static func perform(_ request: TrialRequest, _ channel: TrialChannel) {
    perform(request, channel) { loop, settings throws(TransportError) in
      try CurlTransport(loop: loop, settings: settings)
    }
  }
}
