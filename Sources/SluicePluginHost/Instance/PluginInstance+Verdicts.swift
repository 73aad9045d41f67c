import CSluice
import SluicePipeline
import SluicePluginImage

// What the answers of the plugin come to.
extension PluginInstance {
  /// What a resumption comes to, once it is delivered. [loop]
  func resolve(_ verdict: sluice_verdict, on exchange: Exchange) -> Verdict {
    let details = existingRecord(exchange)?.takeDetails()
    switch verdict {
    case VerdictNumber.proceed: return details?.wantsRequestBody == true ? .gatherBody : .proceed
    case VerdictNumber.respond: return .respond
    case VerdictNumber.retry: return .retry(after: details?.retryDelay ?? .zero)
    default: return .fail(details?.failure ?? .withoutReason)
    }
  }

  /// What a call's answer comes to, held against what the call did.
  @inline(__always)
  func settle(_ verdict: sluice_verdict, _ context: borrowing CallContext, _ exchange: Exchange) -> Verdict {
    if verdict == VerdictNumber.proceed, !context.hasDetails, !context.hasResponded { return .proceed }
    return settleRarely(verdict, context, exchange)
  }

  @inline(never)
  private func settleRarely(
    _ verdict: sluice_verdict, _ context: borrowing CallContext, _ exchange: Exchange
  ) -> Verdict {
    if verdict == VerdictNumber.suspended {
      if context.token != nil { return .suspended }
      seat.report(.suspendedWithoutToken)
      return .fault(.fault("it answered SUSPENDED without having taken a token with suspend"))
    }
    if context.hasResponded, verdict != VerdictNumber.respond, context.phase != .response {
      // It made a response and did not answer with it: as if there had been none.
      exchange.nativeResponse = nil
      exchange.responseDocument = nil
    }
    guard VerdictNumber.isDecision(verdict) else {
      seat.report(.unknownVerdict, "\(verdict)")
      return .fault(.fault("it answered \(verdict), which is not a verdict"))
    }
    if verdict == VerdictNumber.retry, !seat.features.contains(.retry) {
      return .fault(.fault("it answered RETRY, which this host does not offer"))
    }
    return resolve(verdict, on: exchange)
  }
}
