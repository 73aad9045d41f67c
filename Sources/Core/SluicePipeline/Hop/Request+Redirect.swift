import SluiceMessages

extension Request {
  /// The request of the next hop.
  ///
  /// Fields that describe a body are removed with it (RFC 9110 §15.4). Credentials, cookies, fields marked as secret,
  /// fields that a stage added, and a `Host` that the caller set are not sent to another origin. The same holds for
  /// trailers.
  func following(_ redirect: Redirect, _ settings: RedirectSettings) -> Request {
    var next = self
    next.method = redirect.method
    next.url = redirect.url
    if !redirect.keepsBody {
      next.body = .empty
      next.sharedTrailers = nil
      for name in Self.contentFields { next.headers.remove(name) }
    }
    if redirect.isCrossOrigin {
      next.headers.dropSecrets(settings)
      if next.hasTrailers { next.trailers.dropSecrets(settings) }
    }
    return next
  }

  private static let contentFields = [
    "content-type", "content-length", "content-encoding", "content-language", "content-location", "content-disposition",
    "content-range", "content-digest", "repr-digest", "digest", "content-md5", "last-modified", "expect",
  ]
}
