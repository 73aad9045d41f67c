import CSluice
public import SluiceMessages

/// Called before a redirect is followed. Throwing fails the transaction, even with ``RetryRequestError``.
public protocol RedirectInterceptor: Sendable {
  /// - Parameter response: the redirect, only for reading.
  func interceptRedirect(
    _ redirect: Redirect, response: StageResponse, context: ResponseContext
  ) async throws -> RedirectDecision
}

extension Redirect {
  /// nil for a malformed URL.
  init?(_ redirect: sluice_redirect) {
    guard let url = try? HTTPURL(String(redirect.url)) else { return nil }
    self.init(
      status: Int(redirect.status), url: url, method: String(redirect.method),
      isCrossOrigin: redirect.is_cross_origin != 0, keepsBody: redirect.keeps_body != 0)
  }
}
