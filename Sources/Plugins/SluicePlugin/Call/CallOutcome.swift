import CSluice

/// How an intercepting method ended.
enum CallOutcome: Sendable {
  case returned
  case retry(Duration)
  case failed(StageFailure)

  init(_ error: any Error) {
    switch error {
    case let retry as RetryRequestError: self = .retry(retry.delay)
    case let failure as StageFailure: self = .failed(failure)
    default: self = .failed(StageFailure(message: String(describing: error)))
    }
  }

  init(of body: () throws -> Void) {
    do {
      try body()
      self = .returned
    } catch {
      self.init(error)
    }
  }
}

extension ExchangeCall {
  /// Passes the values of the verdict to the host, inside the call, and returns the verdict.
  final func verdict(_ outcome: CallOutcome) -> sluice_verdict {
    switch outcome {
    case .returned:
      if let refusal { return fail(refusal) }
      if let decision { return decision }
      return sluice_verdict(hasResponded ? SLUICE_VERDICT_RESPOND : SLUICE_VERDICT_CONTINUE)
    case .retry(let delay):
      return withExchange { $0.pointee.retry($1, delay.nanoseconds) } ?? sluice_verdict(SLUICE_VERDICT_FAIL)
    case .failed(let failure):
      return fail(failure)
    }
  }

  private func fail(_ failure: StageFailure) -> sluice_verdict {
    withExchange { api, exchange in
      withText(failure.code.rawValue) { code in withText(failure.message) { api.pointee.fail(exchange, code, $0) } }
    } ?? sluice_verdict(SLUICE_VERDICT_FAIL)
  }
}
