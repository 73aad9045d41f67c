import SluiceJSON
import SluiceMessages
import Testing

@testable import SluiceAssembly
@testable import Sluice
@testable import SluiceCommand

/// The log lines that the command shows, and their form.
@Suite struct LogOutputTests {
  private static let report = SwapReport(
    id: 3, trigger: .swap, began: .seconds(1), outcome: .published, snapshot: 4)

  private static func wanted(_ least: LogLine.Level?) -> [LogLine.Level] {
    let settings = LogOutput.Settings(least: least)
    return [.debug, .info, .warning, .error].filter { LogOutput.isWanted(LogLine(level: $0, message: ""), settings) }
  }

  @Test func `without a level, warnings and the results of swaps are shown`() {
    #expect(Self.wanted(nil) == [.warning, .error])
    let swap = LogLine(level: .info, message: "", swap: Self.report)
    #expect(LogOutput.isWanted(swap, LogOutput.Settings()))
    #expect(!LogOutput.isWanted(swap, LogOutput.Settings(least: .warning)))
  }

  @Test func `with a level, messages of this level and above are shown`() {
    #expect(Self.wanted(.debug) == [.debug, .info, .warning, .error])
    #expect(Self.wanted(.info) == [.info, .warning, .error])
    #expect(Self.wanted(.error) == [.error])
  }

  @Test func `a line names its source, and cannot control a terminal`() {
    let line = LogLine(level: .warning, plugin: "auth", message: "a\u{1B}[2J")
    #expect(LogOutput.text(of: line) == #"warning: plugin "auth": a\u{1B}[2J"#)
    #expect(LogOutput.text(of: LogLine(level: .info, message: "b")) == "info: b")
  }

  @Test func `a log document has all facts of the log line`() {
    let line = LogLine(
      level: .info, plugin: "auth", generation: 2, stage: "a", message: "said \"x\"", swap: Self.report)
    let document = LogOutput.document(of: line, at: .milliseconds(1500))
    #expect(document["time"]?.string == "1970-01-01T00:00:01.500Z")
    #expect(document["level"]?.string == "info" && document["message"]?.string == "said \"x\"")
    #expect(document["plugin"]?.string == "auth" && document["generation"]?.integer == 2)
    #expect(document["stage"]?.string == "a")
    #expect(document["swap"]?["id"]?.integer == 3 && document["swap"]?["outcome"]?.string == "published")
    let plain = LogOutput.document(of: LogLine(level: .error, message: "b"), at: .zero)
    #expect(plain.members.map(\.key) == ["time", "level", "message"])
  }

  @Test func `a record shows its attributes and its transaction in both forms, and no secret`() throws {
    var line = LogLine(level: .warning, plugin: "auth", message: "slow")
    line.attributes = AttributeList([
      Attribute("http.route", "/a b"), Attribute("status", 503), Attribute("share", 0.5), Attribute("is-new", true),
      Attribute("token", "s3cret", isSensitive: true), Attribute("server", "api.example.com:443"),
      Attribute("empty", ""), Attribute("escape", "\u{1B}[2J"),
    ])
    line.transaction = TransactionID(randomHigh: 1, randomLow: 2)
    line.requestID = "r-1"
    line.attempt = 2
    let id = try #require(line.transaction).description
    #expect(
      LogOutput.text(of: line) == "warning: plugin \"auth\": slow http.route=\"/a b\" status=503 share=0.5 "
        + "is-new=true token=REDACTED server=api.example.com:443 empty=\"\" escape=\"\\u001B[2J\" transaction=\(id) "
        + "requestId=r-1 attempt=2")
    let document = LogOutput.document(of: line, at: .zero)
    #expect(
      document["attributes"] == [
        "http.route": "/a b", "status": 503, "share": 0.5, "is-new": true, "token": "REDACTED",
        "server": "api.example.com:443", "empty": "", "escape": "\u{1B}[2J",
      ])
    #expect(document["transaction"]?.string == id && document["requestId"] == "r-1" && document["attempt"] == 2)
  }

  @Test(arguments: [["--log-level", "loud"], ["--log-format", "xml"], ["--log-level", "INFO"]])
  func `an unknown level or format is refused`(_ words: [String]) throws {
    let arguments = try ArgumentParser.parse(words[...], for: RunCommand.description)
    #expect(throws: CommandError.self) { try LogOutput.Settings(arguments) }
  }
}
