import SluiceSupport
import SluiceTraceContext
import Testing

@testable import SluiceAssembly

/// The environment variables of OpenTelemetry, which apply to settings that the configuration omits.
@Suite struct TelemetryEnvironmentTests {
  private struct Reading {
    var propagators: [String]?
    var sampler: Sampler?
    var isDisabled: Bool
    var warnings: [String]
  }

  private static func read(_ variables: [String: String]) -> Reading {
    let warnings = Locked<[String]>([])
    let environment = TelemetryEnvironment(
      read: { variables[$0] }, warn: { text in warnings.withLock { $0.append(text) } })
    return Reading(
      propagators: environment.propagators?.names, sampler: environment.sampler, isDisabled: environment.isDisabled,
      warnings: warnings.withLock { $0 })
  }

  @Test(
    arguments: [
      ("tracecontext,baggage", ["tracecontext", "baggage"], 0), ("b3", ["b3"], 0), ("b3multi", ["b3multi"], 0),
      ("xray,datadog", ["xray", "datadog"], 0), (" B3 , TraceContext ", ["b3", "tracecontext"], 0),
      ("b3,baggage,b3,B3", ["b3", "baggage"], 0), ("none", [], 0), ("None", [], 0), ("", nil, 0), (" ", nil, 0),
      (",", nil, 0), ("jaeger", nil, 1), ("jaeger,b3,ottrace", ["b3"], 2), ("none,b3", ["b3"], 1),
    ] as [(String, [String]?, Int)])
  func `OTEL_PROPAGATORS is a case-insensitive list without repetitions, and unknown names cause a warning`(
    value: String, names: [String]?, warnings: Int
  ) {
    let reading = Self.read(["OTEL_PROPAGATORS": value])
    #expect(reading.propagators == names)
    #expect(reading.warnings.count == warnings, "\(reading.warnings)")
  }

  @Test(
    arguments: [
      ("always_on", nil, Sampler(.alwaysOn), 0), ("ALWAYS_OFF", nil, Sampler(.alwaysOff), 0),
      ("traceidratio", "0.25", Sampler(.traceIDRatio, ratio: 0.25), 0),
      ("traceidratio", nil, Sampler(.traceIDRatio, ratio: 1), 0),
      ("traceidratio", "", Sampler(.traceIDRatio, ratio: 1), 0),
      ("parentbased_always_on", nil, Sampler(), 0), ("parentbased_always_off", nil, Sampler(.parentBasedAlwaysOff), 0),
      ("parentbased_traceidratio", " 0.5 ", Sampler(.parentBasedTraceIDRatio, ratio: 0.5), 0),
      ("parentbased_traceidratio", "1.5", Sampler(.parentBasedTraceIDRatio, ratio: 1), 1),
      ("parentbased_traceidratio", "half", Sampler(.parentBasedTraceIDRatio, ratio: 1), 1),
      ("parentbased_traceidratio", "nan", Sampler(.parentBasedTraceIDRatio, ratio: 1), 1),
      ("always_on", "half", Sampler(.alwaysOn), 0), ("jaeger_remote", nil, nil, 1), ("", nil, nil, 0),
    ] as [(String, String?, Sampler?, Int)])
  func `OTEL_TRACES_SAMPLER names the sampler, and OTEL_TRACES_SAMPLER_ARG its ratio`(
    name: String, argument: String?, sampler: Sampler?, warnings: Int
  ) {
    var variables = ["OTEL_TRACES_SAMPLER": name]
    variables["OTEL_TRACES_SAMPLER_ARG"] = argument
    let reading = Self.read(variables)
    #expect(reading.sampler == sampler)
    #expect(reading.warnings.count == warnings, "\(reading.warnings)")
  }

  @Test func `OTEL_TRACES_SAMPLER_ARG without a sampler is ignored`() {
    #expect(Self.read(["OTEL_TRACES_SAMPLER_ARG": "0.1"]).sampler == nil)
  }

  @Test(arguments: [("true", true, 0), ("TRUE", true, 0), ("false", false, 0), ("", false, 0), ("1", false, 1)])
  func `OTEL_SDK_DISABLED has an effect only if its value is the word true`(
    value: String, isDisabled: Bool, warnings: Int
  ) {
    let reading = Self.read(["OTEL_SDK_DISABLED": value])
    #expect(reading.isDisabled == isDisabled)
    #expect(reading.warnings.count == warnings)
  }

  @Test(arguments: [("shop", "shop"), (" shop\t", "shop"), ("", nil), (" ", nil)] as [(String, String?)])
  func `OTEL_SERVICE_NAME is read without blanks at its ends`(value: String, name: String?) {
    #expect(TelemetryEnvironment(read: { ["OTEL_SERVICE_NAME": value][$0] }, warn: { _ in }).serviceName == name)
  }

  @Test func `without variables there are no settings`() {
    let reading = Self.read([:])
    #expect(reading.propagators == nil && reading.sampler == nil && !reading.isDisabled && reading.warnings.isEmpty)
  }
}
