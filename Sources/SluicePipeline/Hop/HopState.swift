import SluiceMessages

/// What an attempt remembers of the hops behind it; made with the first redirect or challenge. Confined to the loop.
final class HopState {
  /// Demands that are answered in one attempt; a server that wants more never has enough.
  static let maximumAnswers = 8

  /// Followed in this attempt.
  var redirects = 0
  /// Challenges answered in this attempt.
  var answered = 0
  /// What is being decided about; nil where it is a challenge.
  var redirect: Redirect?
  var challenges: [Challenge] = []
  var status = 0
  private var visited: Set<String> = []

  /// Notes where a redirect comes from and where it leads; false where the request would be one that was sent already.
  ///
  /// A response that sets a cookie changes what the same request means, so that what was before it does not count.
  func isNew(_ redirect: Redirect, from request: Request, _ response: Response) -> Bool {
    if response.headers.contains("set-cookie") {
      visited = []
    } else {
      visited.insert(Self.key(request.method, request.url))
    }
    return visited.insert(Self.key(redirect.method, redirect.url)).inserted
  }

  func forgetVisited() { visited = [] }

  private static func key(_ method: String, _ url: HTTPURL) -> String { "\(method) \(url.stringWithoutFragment)" }
}
