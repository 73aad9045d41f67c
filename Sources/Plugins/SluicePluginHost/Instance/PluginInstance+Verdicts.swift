import CSluice
import SluicePipeline

// Turns the answers of the plugin into verdicts.
extension PluginInstance {
  /// Returns the verdict of a suspended call: the number with which the plugin resumed it, together with the values
  /// that the plugin stored, such as a failure. [loop]
  func resolve(_ verdict: sluice_verdict, on exchange: Exchange) -> Verdict {
    let details = existingRecord(exchange)?.takeDetails()
    switch verdict {
    case VerdictNumber.proceed: return details?.wantsRequestBody == true ? .gatherBody : .proceed
    case VerdictNumber.respond: return .respond
    case VerdictNumber.retry: return .retry(after: details?.retryDelay ?? .zero)
    default: return .fail(details?.failure ?? .withoutReason)
    }
  }

  /// The verdict of a call: the plugin's answer, checked against the actions of the call.
  @inline(__always)
  func settle(_ verdict: sluice_verdict, _ context: inout CallContext, _ exchange: Exchange) -> Verdict {
    if verdict == VerdictNumber.proceed, !context.hasDetails, !context.hasResponded { return .proceed }
    return settleRarely(verdict, &context, exchange)
  }

  @inline(never)
  private func settleRarely(
    _ verdict: sluice_verdict, _ context: inout CallContext, _ exchange: Exchange
  ) -> Verdict {
    if verdict == VerdictNumber.suspended {
      if context.token != nil { return .suspended }
      hostHandle.report(.suspendedWithoutToken)
      return .fault(.fault("it answered SUSPENDED without having taken a token with suspend"))
    }
    if context.hasResponded, verdict != VerdictNumber.respond, context.phase != .response {
      // The plugin made a response with `respond`, but did not answer RESPOND, so the response is dropped.
      exchange.responseForms.replace(with: nil)
    }
    guard VerdictNumber.isDecision(verdict) else {
      hostHandle.report(.unknownVerdict, "\(verdict)")
      return .fault(.fault("it answered \(verdict), which is not a verdict"))
    }
    if verdict == VerdictNumber.retry, !hostHandle.features.contains(.retry) {
      return .fault(.fault("it answered RETRY, which this host does not offer"))
    }
    return resolve(verdict, on: exchange)
  }
}
