import SluiceMessages

/// What an attempt remembers about its earlier hops; created with the first redirect or challenge. Confined to the
/// loop.
final class HopState {
  /// The maximum number of challenges that one attempt answers; a server that sends more would probably never stop.
  static let maximumAnswers = 8

  /// Redirects that were followed in this attempt.
  var redirects = 0
  /// Challenges answered in this attempt.
  var answered = 0
  /// The redirect that is being decided; nil for a challenge.
  var redirect: Redirect?
  var challenges: [Challenge] = []
  var status = 0
  /// Whether the hop has no body, because the server is first asked for its challenge.
  var isAsking = false
  /// Whether the server was asked and wants no credentials.
  var isUnprotected = false
  private var visited: Set<String> = []

  /// Notes the source and the target of a redirect. Returns false if the next request would repeat an earlier request.
  ///
  /// A response that sets a cookie can change the answer to the same request. So after such a response, earlier
  /// requests are forgotten.
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
