import SluiceMessages

// Redirects (RFC 9110 §15.4).
extension Transaction {
  /// What must be decided about a head with a redirect. Nil if the redirect itself is the response.
  func redirected(_ head: Response) -> TransactionMachine.Crossing? {
    let settings = redirectSettings
    guard settings.maximum > 0 else { return nil }
    do throws(RedirectRefusal) {
      let redirect = try Redirect(head, to: requestForms.native, hosts: pipeline.settings.hostEncoder)
      return redirect.map { crossing($0, head, settings) }
    } catch { return TransactionMachine.Crossing(failure: failure(of: error)) }
  }

  private var redirectSettings: RedirectSettings {
    var settings = pipeline.settings.redirects
    if let maximum = options?.value.maximumRedirects { settings.maximum = max(0, maximum) }
    return settings
  }

  private func crossing(
    _ redirect: Redirect, _ head: Response, _ settings: RedirectSettings
  ) -> TransactionMachine.Crossing {
    let hops = self.hops ?? HopState()
    self.hops = hops
    hops.redirect = redirect
    var crossing = TransactionMachine.Crossing(stages: hopStageCount)
    crossing.failure = failure(of: redirect, head, hops, settings)
    return crossing
  }

  private func failure(
    of redirect: Redirect, _ head: Response, _ hops: HopState, _ settings: RedirectSettings
  ) -> TransactionError? {
    guard hops.isNew(redirect, from: requestForms.native, head) else {
      return TransactionError(
        code: .redirectLoop,
        message:
          "\(answer(redirect)), which leads back to a request of this attempt, after \(hops.redirects + 1) redirects")
    }
    guard hops.redirects < settings.maximum else {
      return TransactionError(
        code: .tooManyRedirects,
        message:
          "\(answer(redirect)) after \(hops.redirects) redirects, which is the limit; raise "
          + "\(pipeline.settings.names.maximumRedirects)")
    }
    guard !redirect.keepsBody || isHopReplayable else {
      return TransactionError(
        code: .bodyNotReplayable,
        message: "\(answer(redirect)), which needs the request body again, but the body can be produced only"
          + " once; send it from memory or a file, or do not follow redirects"
          + " (set \(pipeline.settings.names.maximumRedirects) to 0)")
    }
    return nil
  }

  private func failure(of refusal: RedirectRefusal) -> TransactionError {
    TransactionError(
      code: .redirectRefused,
      message:
        "\(shownRequest): the server answered \(refusal). To have the redirect as the response, set redirects.max to 0"
    )
  }

  private func answer(_ redirect: Redirect) -> String {
    "the server answered \(redirect.status) to \(shownRequest)"
  }

  func follow(_ hops: HopState) {
    guard let redirect = hops.redirect else { return }
    hops.redirects += 1
    hops.isUnprotected = false
    metrics.countRedirect()
    var next = requestForms.native.following(redirect, pipeline.settings.redirects)
    if hops.answered > 0, !redirect.isCrossOrigin {
      pipeline.settings.challengeResponder?.renew(&next, on: self)
    }
    requestForms.native = next
  }
}
