import SluiceMessages
import SluicePipeline

// Redirects and challenges.
extension CodeStage {
  func interceptRedirect(_ exchange: Exchange, _ redirect: Redirect) -> Verdict {
    guard let function = code.redirect else { return .proceed }
    let context = ResponseContext(exchange)
    return run(exchange, RedirectDecision.follow) { decision in
      decision = try await function(redirect, context)
    } adopt: {
      $1 == .follow ? .proceed : .respond
    }
  }

  func interceptChallenge(_ exchange: Exchange, _ offer: ChallengeOffer) -> Verdict {
    guard let function = code.challenge else { return .proceed }
    let context = ResponseContext(exchange)
    return run(exchange, ChallengeDecision.performDefaultHandling) { decision in
      decision = try await function(offer, context)
    } adopt: {
      Self.answer(offer, $1, $0)
    }
  }

  private static func answer(_ offer: ChallengeOffer, _ decision: ChallengeDecision, _ exchange: Exchange) -> Verdict {
    switch decision {
    case .performDefaultHandling: return .proceed
    case .cancel:
      return .fail(
        StageFailure(
          code: TransactionError.Code.cancelled, message: "it cancelled at the challenge \(offer.challenge.scheme)"))
    case .answer(let value):
      do { try HeaderFields.check(name: offer.credentialsHeader.utf8.span, value: value.utf8.span) } catch {
        return .fail(StageFailure(code: error.code.text, message: error.description))
      }
      exchange.nativeRequest.headers[offer.credentialsHeader] = value
      return .respond
    case .credentials(let user, let password):
      let credentials = Credentials(user: Array(user.utf8), password: Array(password.utf8))
      guard let value = credentials.answer(to: [offer.challenge], status: offer.status, on: exchange) else {
        return .proceed
      }
      exchange.nativeRequest.headers[offer.credentialsHeader] = value
      return .respond
    }
  }
}
