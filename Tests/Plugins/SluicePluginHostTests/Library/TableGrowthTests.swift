import CSluice
import SluiceTestKit
import Testing

@testable import SluicePluginHost

/// Plugins and hosts of different revisions. Tables grow at their end. Neither a plugin nor a host refuses the other
/// because of such additional members.
@Suite struct TableGrowthTests {
  private let fixture: LibraryFixture

  init() throws { fixture = try LibraryFixture() }

  private func generation(_ defines: String...) async throws -> PluginGeneration {
    // Keeps the folder of the compiled fixture until the library is loaded.
    let product = try await PluginCompiler.compile("all-tables", defines: defines)
    defer { withExtendedLifetime(product) {} }
    return try await fixture.generation(of: product.path)
  }

  /// Reads every table of the generation.
  private func takeAll(_ generation: PluginGeneration) throws {
    #expect(try generation.interceptor() != nil)
    #expect(try generation.body()?.on_chunk != nil)
    #expect(try generation.tracer()?.on_event != nil)
    #expect(try generation.state()?.load != nil)
    #expect(try generation.notifications() != nil)
    #expect(try generation.stage()?.destroy_stage != nil)
    #expect(try generation.selfTests().count == 1)
  }

  @Test(arguments: ["EXTRA=0", "EXTRA=8", "EXTRA=32"])
  func `a plugin whose tables are as long as in revision 1, or longer than this host knows, is accepted`(
    _ extra: String
  ) async throws {
    try takeAll(try await generation(extra))
  }

  @Test(arguments: [
    ("sluice_plugin", SLUICE_PLUGIN_SIZE_1), (SLUICE_INTERCEPTOR_ID, SLUICE_INTERCEPTOR_SIZE_1),
    (SLUICE_BODY_ID, SLUICE_BODY_SIZE_1), (SLUICE_TRACER_ID, SLUICE_TRACER_SIZE_1),
    (SLUICE_STATE_ID, SLUICE_STATE_SIZE_1), (SLUICE_NOTIFICATIONS_ID, SLUICE_NOTIFICATIONS_SIZE_1),
    (SLUICE_STAGE_ID, SLUICE_STAGE_SIZE_1), (SLUICE_SELFTEST_ID, SLUICE_SELFTEST_SIZE_1),
    ("case", SLUICE_SELFTEST_CASE_SIZE_1),
  ])
  func `a table that is shorter than in revision 1 is refused, and the error names both lengths`(
    _ id: String, _ least: UInt32
  ) async throws {
    let error = await #expect(throws: PluginError.self) {
      try takeAll(try await generation("EXTRA=0", "SHORT=\"\(id)\""))
    }
    #expect(error?.code == .invalidTable)
    let name = id == "case" ? SLUICE_SELFTEST_ID : id
    #expect(error?.says(name, "says that it is \(least - 4) bytes long, at least \(least) are needed") == true)
  }

  /// A table with further members, as a later host knows it.
  private struct Later<Table> {
    var table: Table
    var newer = (UInt(0), UInt(0))
  }

  /// Reads a table of this revision as a later host would. In memory, other data follows the table.
  private func readAsLater<Table>(_ table: Table, _ least: UInt32) throws {
    let reader = TableReader(subject: .plugin(name: nil, path: "/p.so"), name: "\(Table.self)")
    var there = Later(table: table, newer: (1, 1))
    withUnsafeMutableBytes(of: &there) { $0.storeBytes(of: UInt32(MemoryLayout<Table>.size), as: UInt32.self) }
    let read = try withUnsafeBytes(of: &there) {
      try reader.read(try #require($0.baseAddress), zero: Later(table: table), least: least)
    }
    #expect(read.newer == (0, 0))
  }

  @Test
  func `a host that knows longer tables accepts this revision's tables, and treats the missing members as absent`()
    throws
  {
    try readAsLater(sluice_plugin(), SLUICE_PLUGIN_SIZE_1)
    try readAsLater(sluice_interceptor(), SLUICE_INTERCEPTOR_SIZE_1)
    try readAsLater(sluice_body(), SLUICE_BODY_SIZE_1)
    try readAsLater(sluice_tracer(), SLUICE_TRACER_SIZE_1)
    try readAsLater(sluice_state(), SLUICE_STATE_SIZE_1)
    try readAsLater(sluice_notifications(), SLUICE_NOTIFICATIONS_SIZE_1)
    try readAsLater(sluice_stage(), SLUICE_STAGE_SIZE_1)
    try readAsLater(sluice_selftest(), SLUICE_SELFTEST_SIZE_1)
    try readAsLater(sluice_selftest_case(), SLUICE_SELFTEST_CASE_SIZE_1)
  }
}
