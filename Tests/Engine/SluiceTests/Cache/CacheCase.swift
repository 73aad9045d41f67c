import Glibc
import SluiceJSON
import SluiceMessages
import SluiceTestKit

/// A row of `Tests/Fixtures/Cases/cache`: requests one after the other, the origin's answer to each, and the response that the
/// caller must get.
///
/// The scenarios and their ids come from http-tests/cache-tests, except for rows of kind `own`, which were written
/// here. The value `@-30` is the date thirty seconds ago. `@850-30` is the same date in the form of RFC 850. Where that
/// suite waits until a response is stale, the row here gives the response an older date instead.
struct CacheCase: Decodable, Sendable {
  enum Kind: String, Decodable, Sendable { case required, optimal, own }

  /// The cache of one client, or that of several (`sluice serve`).
  enum Sharing: String, Decodable, Sendable, CaseIterable { case `private`, shared }

  /// The source from which the answer to a step must come.
  enum Source: String, Decodable, Sendable {
    case origin, cache
    case validatedByTag = "validated by tag"
    case validatedByDate = "validated by date"
    /// There is no response: the transport failed.
    case nowhere
    /// The stage answers by itself, without a stored response.
    case nobody
  }

  struct Answer: Decodable, Sendable {
    var status: Int?
    var headers: [String]?
    var body: String?
    /// The body on the wire, if it differs from `body`.
    var raw: String?
    /// Status line and fields of an informational response.
    var interim: String?
  }

  struct Step: Decodable, Sendable {
    // The request.
    var method: String?
    var query: String?
    var send: [String]?
    var body: String?
    // The origin's answer.
    var answer: Answer?
    var hangUp: Bool?
    // The expected result.
    var from: Source?
    /// The expected status; by default the status of the origin's answer.
    var want: Int?
    var headers: [String: String]?
    var atLeast: [String: Int]?
    var missing: [String]?
    var text: String?
    /// Fields that the origin must get.
    var sent: [String: String]?
    /// The step, counted from 1, whose answer the caller must get; by default the last step that the origin answered.
    var answered: Int?

    var source: Source { from ?? .origin }
    /// Whether a connection to the origin is made.
    var reachesOrigin: Bool { source != .cache && source != .nobody || hangUp == true }
    var isValidation: Bool { source == .validatedByTag || source == .validatedByDate }
  }

  var id: String
  var kind: Kind?
  /// The only kind of cache for which the row holds; nil for both.
  var only: Sharing?
  var promise: String
  var steps: [Step]
}

/// A file of rows.
struct CacheCases: Decodable, Sendable {
  var about: String
  var cases: [CacheCase]

  static func read(_ group: String) throws -> CacheCases {
    try JSONValue(parsing: FileTree.readText(RepositoryRoot.path("Tests/Fixtures/Cases/cache/\(group).json")))
      .decode(unknownKeys: .refused)
  }

  static let groups = [
    "lifetime", "directives", "age", "expires", "dates", "response-directives", "stale", "heuristic", "status", "vary",
    "vary-syntax", "conditions", "headers", "confirmed", "invalidation", "partial", "authorization", "other",
    "request-directives", "head", "shared",
  ]
}

/// The cases of the public suite that have no row, and the reasons.
struct CacheCasesLeftOut: Decodable, Sendable {
  struct Reason: Decodable, Sendable {
    var ids: [String]
    var kind: String
    var reason: String
  }

  var about: String
  var leftOut: [Reason]
}

/// The moment from which the dates of a row are counted.
struct CaseClock: Sendable {
  let now: HTTPDate

  init() {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    now = HTTPDate(secondsSince1970: Int64(time.tv_sec))
  }

  /// Splits `Name: value`, and replaces `@…` with its date.
  func field(_ line: String) -> (name: String, value: String) {
    let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    return (String(parts.first ?? ""), value(String((parts.last ?? "").drop { $0 == " " })))
  }

  func value(_ text: String) -> String {
    if text.hasPrefix("@850"), let offset = Int64(text.dropFirst(4)) { return rfc850(offset) }
    guard text.hasPrefix("@"), let offset = Int64(text.dropFirst()) else { return text }
    return HTTPDate(secondsSince1970: now.secondsSince1970 + offset).description
  }

  private func rfc850(_ offset: Int64) -> String {
    let text = HTTPDate(secondsSince1970: now.secondsSince1970 + offset).description
    let days = [
      "Mon": "Monday", "Tue": "Tuesday", "Wed": "Wednesday", "Thu": "Thursday", "Fri": "Friday", "Sat": "Saturday",
      "Sun": "Sunday",
    ]
    let words = text.split(separator: " ").map(String.init)
    let year = words[3].suffix(2)
    return "\(days[String(words[0].dropLast())] ?? ""), \(words[1])-\(words[2])-\(year) \(words[4]) GMT"
  }
}
