import Sluice
import SluiceJSON
import Testing

/// The name of the service in the metrics. The tests of the command check the environment variables for the name.
@Suite struct ServiceNameTests {
  @Test func `the JSON document and target_info have the escaped name of the service`() async throws {
    let engine = try Engine(Configuration(text: Array(##"{"serviceName": "the \"shop\""}"##.utf8)))
    #expect(engine.metricsDocument()["resource"] == ["service.name": "the \"shop\""])
    let lines = engine.prometheusText().split(separator: "\n")
    #expect(lines.contains(##"target_info{service_name="the \"shop\""} 1"##))
    #expect(lines.contains("# TYPE target_info gauge"))
    await engine.shutdown()
  }

  @Test func `if the service has no name, the JSON document and target_info have none`() async throws {
    let engine = try Engine(Configuration())
    #expect(engine.metricsDocument()["resource"] == nil)
    #expect(!engine.prometheusText().contains("target_info"))
    await engine.shutdown()
  }
}
