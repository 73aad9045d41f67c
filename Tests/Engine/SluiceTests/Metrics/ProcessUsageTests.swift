import Glibc
import SluiceJSON
import Testing

@testable import SluiceAssembly
@testable import Sluice

/// Tests the metrics about the resources that the process uses.
@Suite struct ProcessUsageTests {
  @Test(arguments: [
    ("100 25 3 4 0 6 0\n", 102_400 as Int?), ("100 25", 102_400), ("100", nil), ("", nil), ("a b c", nil),
    ("1 -1 0", nil), ("1 9223372036854775807 0", nil), ("1 99999999999999999999 0", nil),
  ])
  func `resident memory is the number of pages times the size of a page, or nil if the text is invalid`(
    _ statm: String, _ bytes: Int?
  ) {
    #expect(ProcessUsage.residentBytes(Array(statm.utf8), pageBytes: 4096) == bytes)
  }

  @Test func `the usage of this process has memory, descriptors and a descriptor limit`() throws {
    let usage = ProcessUsage.current
    #expect(try #require(usage.residentBytes) > 1 << 20)
    let open = try #require(usage.openDescriptors)
    let limit = try #require(usage.descriptorLimit)
    #expect(open > 0 && open <= limit)
  }

  @Test func `the metrics have the process's resources as text and as JSON`() async throws {
    let engine = try Engine(Configuration())
    let process = try #require(engine.metricsDocument()["process"])
    for key in ["residentBytes", "openDescriptors", "maxDescriptors"] {
      #expect(try #require(process[key]?.integer) > 0, "\(key)")
    }
    let text = engine.prometheusText()
    for name in ["process_resident_memory_bytes", "process_open_fds", "process_max_fds"] {
      #expect(text.contains("# TYPE \(name) gauge\n\(name) "), "\(name)")
    }
    await engine.shutdown()
  }

  @Test func `values that cannot be read are left out`() {
    let unknown = ProcessUsage()
    #expect(unknown.document().count == 0)
    var text = PrometheusText(labels: [:])
    unknown.write(to: &text)
    #expect(text.text.isEmpty)
  }
}
