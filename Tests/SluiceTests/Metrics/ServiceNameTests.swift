import Sluice
import SluiceJSON
import Testing

/// The name of the service in the metrics; the variables for it are tested with the command.
@Suite struct ServiceNameTests {
  @Test func `the document and target_info have the name of the service, escaped`() async throws {
    let engine = try Engine(Configuration(text: Array(##"{"serviceName": "the \"shop\""}"##.utf8)))
    #expect(engine.metricsDocument()["resource"] == ["service.name": "the \"shop\""])
    let lines = engine.prometheusText().split(separator: "\n")
    #expect(lines.contains(##"target_info{service_name="the \"shop\""} 1"##))
    #expect(lines.contains("# TYPE target_info gauge"))
    await engine.shutdown()
  }

  @Test func `without a name, neither the document nor target_info has one`() async throws {
    let engine = try Engine(Configuration())
    #expect(engine.metricsDocument()["resource"] == nil)
    #expect(!engine.prometheusText().contains("target_info"))
    await engine.shutdown()
  }
}
