/// A redirect that is about to be followed (RFC 9110 §15.4).
public struct Redirect: Sendable, Hashable {
  /// 301, 302, 303, 307 or 308.
  public let status: Int
  /// The target, absolute.
  public let url: HTTPURL
  /// The method of the next request.
  public let method: String
  /// Whether scheme, host or port change.
  public let isCrossOrigin: Bool
  /// Whether the request keeps its body.
  public let keepsBody: Bool

  package init(status: Int, url: HTTPURL, method: String, isCrossOrigin: Bool, keepsBody: Bool) {
    self.status = status
    self.url = url
    self.method = method
    self.isCrossOrigin = isCrossOrigin
    self.keepsBody = keepsBody
  }
}

/// The decision about a redirect.
public enum RedirectDecision: Sendable, Hashable {
  case follow
  /// Do not follow: the redirect itself is the response.
  case takeResponse
}
