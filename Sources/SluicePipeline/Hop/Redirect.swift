package import SluiceMessages

extension Redirect {
  /// What the response asks for; nil where it is no redirect, or one without a `Location`, which leaves the choice to the
  /// user (RFC 9110 §15.4).
  ///
  /// Throws where a `Location` cannot be followed. Two that differ lead nowhere: which of them counts is not said anywhere.
  /// - Parameter hosts: converts a host beyond ASCII; without an encoder such a host is refused.
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

  /// 300 leaves the choice to the user, 304 answers a condition, 305 and 306 are of the past.
  static func isRedirect(_ status: Int) -> Bool {
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
  /// In one attempt; 0 follows none, and the redirect is the response.
  public var maximum: Int
  /// Names of headers, in lower case, that go along to another origin all the same.
  package var kept: [String]
  /// Names of headers, in lower case, that are secrets wherever they come from and never go along unless they are ``kept``.
  package var secret: [String]

  /// Follows at most `maximum` redirects in one attempt. Names of headers must be in lower case.
  public init(maximum: Int = 20, kept: [String] = [], secret: [String] = []) {
    self.maximum = maximum
    self.kept = kept
    self.secret = secret
  }
}
