import CSluice
package import SluiceJSON
import SluiceMessages

/// A self-test case of a plugin: `sluice_selftest_case`, checked and copied.
package struct SelfTestCase: Sendable {
  package let index: UInt32
  package let name: String
  package let description: String
  package let request: JSONValue?
  package let expectedRequest: JSONValue?
  package let response: JSONValue?
  package let expectedResponse: JSONValue?
  package let configuration: JSONValue?
  /// The wall clock during the case, in nanoseconds since 1970-01-01T00:00:00Z; 0 for that of the system.
  package let wallClock: UInt64

  /// Whether the case has a message to send through a stage.
  package var hasDocuments: Bool {
    request != nil || expectedRequest != nil || response != nil || expectedResponse != nil
  }

  private static let documentLimitBytes = 1 << 20

  init(_ table: sluice_selftest_case, index: UInt32, _ reader: TableReader) throws(PluginError) {
    self.index = index
    name = try reader.line(table.name, "name", limitBytes: 128)
    let isName = name.utf8.allSatisfy { byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || byte == UInt8(ascii: "-")
    }
    guard isName else { throw reader.error("has the name \(PlainText.quote(name)); [a-z0-9-] is allowed") }
    description = try reader.line(table.description, "description", limitBytes: 1024)
    request = try Self.document(table.request, "request", reader)
    expectedRequest = try Self.document(table.expected_request, "expected_request", reader)
    response = try Self.document(table.response, "response", reader)
    expectedResponse = try Self.document(table.expected_response, "expected_response", reader)
    configuration = try Self.document(table.config, "config", reader)
    wallClock = table.wall_clock_ns
  }

  private static func document(
    _ text: UnsafePointer<CChar>?, _ member: String, _ reader: TableReader
  ) throws(PluginError) -> JSONValue? {
    guard let text else { return nil }
    let json = try reader.text(text, member, limitBytes: documentLimitBytes)
    do { return try JSONValue(parsing: json) } catch {
      throw reader.error("has a \(member) that is not JSON: \(error)")
    }
  }
}

extension PluginGeneration {
  private static let maximumSelfTests = 10_000

  /// The plugin's own cases; empty if it has none. [control]
  package func selfTests() throws(PluginError) -> [SelfTestCase] {
    guard let table = try selftest(), let pointers = table.cases else { return [] }
    guard table.count <= Self.maximumSelfTests else {
      throw tableReader.error("has \(table.count) cases, at most \(Self.maximumSelfTests) are run")
    }
    var cases: [SelfTestCase] = []
    for index in 0..<table.count {
      guard let pointer = pointers[Int(index)] else { throw tableReader.error("has no case \(index)") }
      let known = try tableReader.read(
        pointer, zero: sluice_selftest_case(), least: SLUICE_SELFTEST_CASE_SIZE_1)
      cases.append(try SelfTestCase(known, index: index, tableReader))
    }
    return cases
  }

  private var tableReader: TableReader {
    TableReader(subject: .plugin(name: nil, path: path), name: "\"\(SLUICE_SELFTEST_ID)\"")
  }
}

extension PluginInstance {
  /// Runs the `run` function of a case, for checks that documents cannot express. Returns nil if it passes, otherwise
  /// the reason. [control]
  package func runSelfTest(_ index: UInt32) -> String? {
    guard let run = (try? generation.selftest())?.run else { return nil }
    let (status, message) = PluginErrorBuffer.collect { error in
      subject.call(.selfTest) { run(handle, index, error) }
    }
    return status == Status.ok ? nil : message ?? "run answered \(status) and gave no reason"
  }
}
