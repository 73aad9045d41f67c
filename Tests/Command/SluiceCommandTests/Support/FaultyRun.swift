import SluiceJSON
import SluiceTestKit

/// A finished `sluice run --events` with retries and many requests at a time, against a ``FaultyServer``.
struct FaultyRun {
  let count: Int
  let baseURL: String
  let served: FaultyServer.Counts
  let result: CommandResult
  /// The paths of the results and of the event log.
  let output: String
  let events: String
  private let folder: TemporaryDirectory

  init(_ count: Int, seed: UInt64) async throws {
    self.count = count
    let server = try FaultyServer(seed: seed)
    defer { server.stop() }
    baseURL = server.baseURL
    folder = try TemporaryDirectory()
    output = folder.path("results.jsonl")
    events = folder.path("events.jsonl")
    let configuration = """
      {"transport": {"baseURL": "\(server.baseURL)", "loops": 2}, "validate": {"extract": "json"},
       "retry": {"maxAttempts": 3, "statuses": [503], "connectionErrors": true, "budget": 1,
                 "backoff": {"base": "1ms", "max": "4ms"}}}
      """
    let file = try folder.write(configuration, to: "c.json")
    let input = try folder.write((1...count).map(Self.line).joined(), to: "requests.jsonl")
    result = try await Self.run(
      "run", "-q", "-c", file, "-i", input, "-o", output, "--events", events, "--concurrency", "128")
    served = server.counts
  }

  /// Returns a request line in one of five forms. Every second request has its own request id.
  private static func line(_ number: Int) -> String {
    let id = number % 2 == 0 ? #", "headers": {"x-request-id": "r\#(number)"}"# : ""
    let form =
      switch number % 5 {
      case 0: #""url": "/\#(number)?sig=s3cret""#
      case 1: #""url": "/\#(number)", "method": "HEAD""#
      case 2: #""url": "/\#(number)", "method": "POST", "body": {"json": {"n": \#(number)}}"#
      case 3: #""url": "/\#(number)", "method": "PUT", "body": {"text": "n"}"#
      default: #""url": "/\#(number)""#
      }
    return #"{"id": \#(number), \#(form)\#(id)}"# + "\n"
  }

  /// Returns the URL that the first event of a line's request must have.
  func url(of number: Int) -> String { "\(baseURL)/\(number)\(number % 5 == 0 ? "?sig=REDACTED" : "")" }

  func verify() async throws -> CommandResult { try await Self.run("verify-trace", "--json", events) }

  /// Runs the command, with enough time for the full size of `SLUICE_SOAK`.
  private static func run(_ arguments: String...) async throws -> CommandResult {
    try await Command.run(
      Tool.path, arguments, environment: Tool.cleared, limit: Tool.isSoak ? .seconds(3600) : Patience.limit)
  }
}
