import CSluice

/// A redirect that is about to be followed.
public struct Redirect: Hashable, Sendable {
  public let status: Int
  /// The target, as an absolute URL.
  public let url: String
  /// The method of the next request.
  public let method: String
  /// Scheme, host or port change.
  public let isCrossOrigin: Bool

  init(_ redirect: sluice_redirect) {
    status = Int(redirect.status)
    url = String(redirect.url)
    method = String(redirect.method)
    isCrossOrigin = redirect.is_cross_origin != 0
  }
}

/// The decision about a redirect.
public enum RedirectDecision: Hashable, Sendable {
  case follow
  /// The redirect itself is the response.
  case takeResponse
}

/// Called before a redirect is followed. Throwing fails the transaction, even with ``RetryRequestError``.
public protocol RedirectInterceptor: Sendable {
  /// - Parameter response: the redirect, only for reading.
  func interceptRedirect(
    _ redirect: Redirect, response: Response, context: ResponseContext
  ) async throws -> RedirectDecision
}
