import SluiceJSON
import Testing

@testable import SluiceCommand

/// The text of `sluice ctl metrics`.
@Suite struct MetricsTextTests {
  @Test func `a sum that exceeds the largest integer does not crash`() throws {
    let document = try JSONValue(
      parsing: #"""
        {"engine": {
          "stages": [{"phase": "request", "name": "auth", "faults": 9223372036854775807, "timeouts": 1}],
          "tracers": [{"name": "spans", "overruns": 9223372036854775807, "drops": 1}]}}
        """#)
    let text = MetricsText(document).text
    #expect(text.contains("request auth") && text.contains("tracer spans"))
    #expect(!text.contains("resident memory"))
  }

  @Test func `the memory and the descriptors of the process are shown`() throws {
    let document = try JSONValue(
      parsing: #"{"process": {"residentBytes": 52428800, "openDescriptors": 17, "maxDescriptors": 4096}}"#)
    let lines = MetricsText(document).text.split(separator: "\n")
    #expect(lines.contains { $0.hasPrefix("resident memory") && $0.hasSuffix("50 MiB") })
    #expect(lines.contains { $0.hasPrefix("descriptors") && $0.hasSuffix("17 of 4,096") })
  }
}
