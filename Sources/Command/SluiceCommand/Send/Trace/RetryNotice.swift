import Sluice
import SluiceAssembly
import SluiceMessages
import SluicePipeline

/// Prints on standard error that a request will be sent again, because the user could take a long wait for a hang, or
/// why it is not.
enum RetryNotice {
  static func append(to configuration: inout Configuration) {
    let mask = SecretMask(configuration.redaction)
    configuration.addStage(
      "send --retry",
      StageCode(isTrusted: true) { event in
        guard event.kind == .willRetry else { return }
        let request = event.exchange.requestForms.native
        let status = event.status > 0 ? "the server answered \(event.status)" : "no response"
        let reason = event.error?.description ?? "\(status) to \(request.method) \(mask.url(request.url))"
        StandardError.say(
          "\(PrintableText.of(reason)); sending the request again in \(Figures.time(nanoseconds: event.durationNanoseconds))",
          .info)
      })
  }

  /// Says that a request was not sent again because of its body, if the policy would have sent it again.
  static func explain(_ result: TransactionResult, _ policy: RetryPolicy) {
    guard !result.originalRequest.body.isReplayable, result.attempts == 1 else { return }
    let isWanted =
      result.response.map { policy.statuses.contains($0.status) } ?? result.error.map(policy.wants) ?? false
    guard isWanted else { return }
    StandardError.say(
      "--retry: the request is not sent again, because its body can be read or sent only once (standard input, a pipe,"
        + " or --limit-rate); put the body into a file to send it again", .info)
  }
}
