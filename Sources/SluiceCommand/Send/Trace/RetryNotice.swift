import Sluice
import SluiceMessages
import SluicePipeline

/// Prints on standard error that a request will be sent again. Otherwise the user could take a long wait for a hang.
enum RetryNotice {
  static func append(to configuration: inout Configuration) {
    configuration.addStage(
      "send --retry",
      StageCode(isTrusted: true) { event in
        guard event.kind == .willRetry else { return }
        let status = event.status > 0 ? "the server answered \(event.status)" : "no response"
        let reason = event.error.map { "\($0.code)" } ?? status
        StandardError.say(
          "\(reason); sending the request again in \(Figures.time(nanoseconds: event.durationNanoseconds))", .info)
      })
  }
}
