import SluiceJSON
import Testing

@testable import SluiceCommand

/// The text of `sluice ctl status`.
@Suite struct StatusTextTests {
  @Test func `a stage that blocks its loop is shown at the top, with control characters in its name escaped`() throws {
    let status = try JSONValue(
      parsing: Array(
        #"""
        {"snapshot": 1, "silentLoops": [0], "stalls": [
          {"loop": 0, "plugin": "a\u001Bb", "pluginId": "p", "generation": 3, "callback": "on_request", "ageMs": 1250.5}]}
        """#.utf8))
    let lines = StatusText(status, Terminal(-1)).text.split(separator: "\n")
    let stall = try #require(lines.first { $0.contains("has blocked loop") })
    #expect(stall == #"a\u{1B}b, generation 3, has blocked loop 0 in on_request for 1.25 s"#)
    #expect(lines.contains("loops that did not answer in time: number 0"))
  }

  @Test func `a sum that exceeds the largest integer does not crash`() throws {
    let status = try JSONValue(
      parsing: #"""
        {"generations": [
          {"id": 3, "state": "active", "completions": 9223372036854775807, "timers": 9223372036854775807, "openCalls": 1}]}
        """#)
    #expect(StatusText(status, Terminal(-1)).text.contains("active"))
  }
}
