import CSluice

/// A redirect that is about to be followed.
public struct Redirect: Hashable, Sendable {
  public let status: Int
  /// Where it leads, absolute.
  public let url: String
  /// What it would be sent with.
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

/// What becomes of a redirect.
public enum RedirectDecision: Hashable, Sendable {
  case follow
  /// The redirect itself is the response.
  case takeResponse
}

/// Is asked before a redirect is followed. Throwing fails the transaction; ``RetryRequestError`` does too here.
public protocol RedirectInterceptor: Sendable {
  /// - Parameter response: the redirect, for reading.
  func interceptRedirect(
    _ redirect: Redirect, response: Response, context: ResponseContext
  ) async throws -> RedirectDecision
}
