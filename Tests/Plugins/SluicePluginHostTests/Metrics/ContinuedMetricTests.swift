import Testing

@testable import SluicePluginHost

/// Metrics that continue when the next generation of a plugin defines them again.
struct ContinuedMetricTests {
  private static func definition(
    _ name: String, _ kind: MetricDefinition.Kind = .counter, labels: [String] = [], description: String = "",
    bounds: [Double] = []
  ) -> MetricDefinition {
    MetricDefinition(
      kind: kind, name: name, description: description, unit: "", labels: labels, seriesLimit: 100, bounds: bounds)
  }

  private func value(_ metric: PluginMetric) -> Double? { metric.snapshot(stage: "a").series.first?.value }

  private func draft(continuing metrics: [PluginMetric], _ definitions: [MetricDefinition]) -> [PluginMetric] {
    let draft = MetricDraft(continuing: metrics)
    for definition in definitions { _ = draft.define(definition, of: "a") }
    return draft.freeze()
  }

  @Test func `a metric with the same definition continues, even if its description or its index changes`() throws {
    let old = draft(continuing: [], [Self.definition("first"), Self.definition("calls")])
    let calls = try #require(old.last)
    _ = calls.record(nil, 3)
    let new = draft(
      continuing: old, [Self.definition("calls", description: "In other words."), Self.definition("new")])
    #expect(new.first === calls)
    // Both instances record during the swap.
    _ = calls.record(nil, 2)
    _ = try #require(new.first).record(nil, 1)
    #expect(value(try #require(new.first)) == 6)
    #expect(value(try #require(new.last)) == 0)
  }

  @Test(arguments: [
    definition("calls", .gauge), definition("calls", labels: ["method"]), definition("calls", .histogram, bounds: [1]),
    definition("Calls"),
  ])
  func `a metric whose kind or labels change starts at zero`(definition: MetricDefinition) throws {
    let old = draft(continuing: [], [Self.definition("calls")])
    _ = try #require(old.first).record(nil, 3)
    let new = try #require(draft(continuing: old, [definition]).first)
    #expect(new !== old.first)
    #expect(value(new) ?? 0 == 0)
  }

  @Test func `a second metric with the same name is refused`() {
    let old = draft(continuing: [], [Self.definition("calls")])
    let draft = MetricDraft(continuing: old)
    guard case .success = draft.define(Self.definition("calls"), of: "a"),
      case .failure(.twice) = draft.define(Self.definition("calls"), of: "a")
    else { return #expect(Bool(false), "taken twice") }
  }
}
