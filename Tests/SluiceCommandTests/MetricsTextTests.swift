import SluiceJSON
import Testing

@testable import SluiceCommand

/// The text of `sluice ctl metrics`.
@Suite struct MetricsTextTests {
  @Test func `a sum of the largest numbers does not trap`() throws {
    let document = try JSONValue(
      parsing: #"""
        {"engine": {
          "stages": [{"phase": "request", "name": "auth", "faults": 9223372036854775807, "timeouts": 1}],
          "tracers": [{"name": "spans", "overruns": 9223372036854775807, "drops": 1}]}}
        """#)
    let text = MetricsText(document).text
    #expect(text.contains("request auth") && text.contains("tracer spans"))
  }
}
