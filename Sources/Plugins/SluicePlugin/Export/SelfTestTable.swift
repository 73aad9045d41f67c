import CSluice
import Glibc
import SluiceJSON
import SluiceMessages

/// The table `sluice.selftest/1`; nil for a type without cases. Created once, and kept as long as the library is
/// mapped.
func makeSelfTestTable(_ type: any Plugin.Type) -> sluice_selftest? {
  let cases = type.selfTestCases
  guard !cases.isEmpty else { return nil }
  let pointers = UnsafeMutablePointer<UnsafePointer<sluice_selftest_case>?>.allocate(capacity: cases.count)
  for (index, table) in cases.enumerated() { (pointers + index).initialize(to: keep(table)) }
  var table = sluice_selftest()
  table.size = UInt32(MemoryLayout<sluice_selftest>.size)
  table.count = UInt32(cases.count)
  table.cases = UnsafePointer(pointers)
  table.run = { runSelfTest($0, $1, $2) }
  return table
}

private func runSelfTest(
  _ instance: UnsafeMutableRawPointer?, _ index: UInt32, _ error: UnsafeMutablePointer<sluice_error>?
) -> sluice_status {
  reporting(to: error) { try Instance.from(instance)?.plugin?.runSelfTest(Int(index)) }
}

extension Plugin {
  fileprivate static var selfTestCases: [sluice_selftest_case] {
    selfTests.map { test in
      var table = sluice_selftest_case()
      table.size = UInt32(MemoryLayout<sluice_selftest_case>.size)
      table.name = UnsafePointer(strdup(test.name))
      table.description = UnsafePointer(strdup(test.description))
      table.request = text(test.request)
      table.expected_request = text(test.expectedRequest)
      table.response = text(test.response)
      table.expected_response = text(test.expectedResponse)
      table.config = text(test.configuration)
      table.wall_clock_ns = UInt64(clamping: test.wallClock?.nanoseconds ?? 0)
      return table
    }
  }

  /// Text that is never freed. A value that cannot be written as JSON becomes a description, which the host refuses
  /// because it is not JSON.
  private static func text(_ document: JSONValue?) -> UnsafePointer<CChar>? {
    document.flatMap { UnsafePointer(strdup((try? $0.serializedText()) ?? "a document that cannot be written")) }
  }

  fileprivate func runSelfTest(_ index: Int) throws {
    let tests = Self.selfTests
    guard tests.indices.contains(index) else { return }
    try tests[index].run?(self)
  }
}
