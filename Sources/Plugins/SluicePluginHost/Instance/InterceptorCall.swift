import CSluice
import SluiceMessages
import SluicePipeline

/// A call that can suspend, wait for its turn, or run on the pool.
enum InterceptorCall: Sendable {
  case request
  case response
  case failure(TransactionError)
  case redirect(Redirect)
  case challenge(ChallengeOffer)

  var phase: CallPhase {
    switch self {
    case .request: .request
    case .response: .response
    case .failure: .failure
    case .redirect: .redirect
    case .challenge: .challenge
    }
  }
}

extension PluginInstance {
  /// Calls the plugin at once, on this thread.
  @inline(__always)
  func perform(
    _ call: InterceptorCall, on exchange: Exchange, offering token: SuspensionToken? = nil, isBlocking: Bool = false
  ) -> Verdict {
    var context = CallContext(self, exchange, call.phase)
    context.offeredToken = token
    context.isBlocking = isBlocking
    if case .challenge(let offer) = call { record(exchange).offer = offer }
    let verdict = CallContext.push(&context) { function(call, OpaquePointer(bitPattern: $0.pointee.name)) }
    return settle(verdict, &context, exchange)
  }

  @inline(__always)
  private func function(_ call: InterceptorCall, _ exchange: OpaquePointer?) -> sluice_verdict {
    switch call {
    case .request: calls.on_request(handle, exchange)
    case .response: calls.on_response(handle, exchange)
    case .failure(let error): withFailure(error) { calls.on_failure(handle, exchange, $0) }
    case .redirect(let redirect): withRedirect(redirect) { calls.on_redirect(handle, exchange, $0) }
    case .challenge(let offer): withChallenge(offer) { calls.on_challenge(handle, exchange, $0) }
    }
  }

  private func withFailure(
    _ error: TransactionError, _ body: (UnsafePointer<sluice_failure>) -> sluice_verdict
  ) -> sluice_verdict {
    error.code.rawValue.withText { code in
      error.message.withText { message in
        error.stage.withText { stage in
          var failure = sluice_failure(
            size: UInt32(MemoryLayout<sluice_failure>.size), is_before_sending: error.isBeforeSending ? 1 : 0,
            code: code, message: message, stage: stage)
          return body(&failure)
        }
      }
    }
  }

  private func withRedirect(
    _ redirect: Redirect, _ body: (UnsafePointer<sluice_redirect>) -> sluice_verdict
  ) -> sluice_verdict {
    redirect.url.string.withText { url in
      redirect.method.withText { method in
        var record = sluice_redirect(
          size: UInt32(MemoryLayout<sluice_redirect>.size), status: UInt32(clamping: redirect.status), url: url,
          method: method, is_cross_origin: redirect.isCrossOrigin ? 1 : 0,
          keeps_body: redirect.keepsBody ? 1 : 0)
        return body(&record)
      }
    }
  }

  private func withChallenge(
    _ offer: ChallengeOffer, _ body: (UnsafePointer<sluice_challenge>) -> sluice_verdict
  ) -> sluice_verdict {
    offer.challenge.scheme.withText { scheme in
      offer.challenge.text.withText { parameters in
        var record = sluice_challenge(
          size: UInt32(MemoryLayout<sluice_challenge>.size), status: UInt32(clamping: offer.status), scheme: scheme,
          parameters: parameters, answered: UInt32(clamping: offer.answered), reserved: 0)
        return body(&record)
      }
    }
  }
}
