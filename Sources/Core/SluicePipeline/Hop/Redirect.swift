package import SluiceMessages

extension Redirect {
  /// The redirect that the response asks for. Nil if the response is not a redirect. Also nil if it has no `Location`,
  /// because the user must then choose the target (RFC 9110 §15.4).
  ///
  /// Throws if a `Location` cannot be followed, or if two `Location` fields differ: no standard says which one counts.
  /// - Parameter hosts: converts a non-ASCII host; without an encoder such a host is refused.
  package init?(
    _ response: Response, to request: Request, hosts: HostEncoder? = nil
  ) throws(RedirectRefusal) {
    guard Self.isRedirect(response.status), let url = try Self.target(response, from: request.url, hosts) else {
      return nil
    }
    let becomesGet =
      response.status == 303 ? request.method != "HEAD" : request.method == "POST" && response.status <= 302
    self.init(
      status: response.status, url: url, method: becomesGet ? "GET" : request.method,
      isCrossOrigin: url.origin != request.url.origin, keepsBody: response.status != 303 && !becomesGet)
  }

  /// 300 lets the user choose, 304 answers a condition, and 305 and 306 are obsolete: none of these is a redirect here.
  package static func isRedirect(_ status: Int) -> Bool {
    switch status {
    case 301, 302, 303, 307, 308: true
    default: false
    }
  }

  private static func target(
    _ response: Response, from url: HTTPURL, _ hosts: HostEncoder?
  ) throws(RedirectRefusal) -> HTTPURL? {
    let headers = response.headers
    let name = "location"
    guard let first = headers.firstIndex(named: name.utf8.span) else { return nil }
    let value = headers.buffer[headers.valueRange(at: first)]
    var next = headers.firstIndex(named: name.utf8.span, from: first + 1)
    while let index = next {
      let other = headers.buffer[headers.valueRange(at: index)]
      guard other == value else {
        throw RedirectRefusal(response.status, [shown(value), shown(other)], "they differ")
      }
      next = headers.firstIndex(named: name.utf8.span, from: index + 1)
    }
    let location = headers.buffer.span.extracting(headers.valueRange(at: first))
    do { return try url.redirectTarget(location, hosts: hosts) } catch {
      throw RedirectRefusal(response.status, [shown(value)], error.reason)
    }
  }

  private static func shown(_ location: ArraySlice<UInt8>) -> String { HTTPURL.shownReference(Array(location).span) }
}

/// How redirects are followed.
public struct RedirectSettings: Sendable, Hashable {
  /// The maximum number of redirects in one attempt; with 0 the redirect itself is the response.
  public var maximum: Int
  /// Names of headers, in lower case, that are sent to another origin too, although they would otherwise be removed.
  package var kept: [String]
  /// Names of headers, in lower case, that always count as secret and are not sent to another origin unless they are
  /// ``kept``.
  package var secret: [String]

  /// Follows at most `maximum` redirects in one attempt. Names of headers must be in lower case.
  public init(maximum: Int = 20, kept: [String] = [], secret: [String] = []) {
    self.maximum = maximum
    self.kept = kept
    self.secret = secret
  }
}
