package import SluiceJSON
import SluicePluginFile
package import SluicePluginHost

/// A conformance run, in which each check runs in a child process of a helper.
package struct ConformanceRun: Sendable {
  /// The result of one check.
  package struct Outcome: Sendable {
    package let check: ConformanceCheck
    package let verdict: CheckVerdict
    package let duration: Duration
  }

  package var checks = ConformanceCheck.all
  package var seed: UInt64
  /// The time limit for each check.
  package var deadline: Duration
  private let path: String
  private var instances: [TrialRequest.Instance]
  private let helper: TrialHelper
  /// The further input that the checks get, in addition to the instances.
  private let payload: JSONValue = .object()
  private var sanitizer: LibraryFacts.Sanitizer?

  /// - Parameters:
  ///   - configuration: nil means the smallest configuration that the plugin's schema allows, or an empty configuration
  ///     if there is no schema.
  ///   - callOutAnswer: a response document that answers all call-outs of the plugin; nil means a built-in one.
  package init(
    of path: String, configuration: JSONValue?, callOutAnswer: JSONValue? = nil, seed: UInt64, deadline: Duration,
    helper: TrialHelper
  ) {
    self.path = path
    self.seed = seed
    self.deadline = deadline
    self.helper = helper
    payload["callOutAnswer"] = callOutAnswer
    instances = configuration.map { [TrialRequest.Instance(name: "plugin", configuration: $0)] } ?? []
  }

  /// Runs the checks in order. Calls `begin` before each check, and `end` when it is over.
  /// - Throws: an error if the library cannot be used at all.
  /// - Parameter derived: called with the configuration if it was derived from the schema.
  package mutating func run(
    derived: (JSONValue) -> Void = { _ in }, begin: (ConformanceCheck) -> Void = { _ in }, end: (Outcome) -> Void
  ) throws(PluginError) {
    let staged = try PluginLoader(store: nil).stage(path)
    let copy = staged.copy
    sanitizer = staged.facts.sanitizer
    if instances.isEmpty {
      try deriveInstance(copy.path)
      if let configuration = instances.first?.configuration { derived(configuration) }
    } else if let error = try refusal(of: instances, copy.path) {
      throw error
    }
    for check in checks {
      begin(check)
      let started = ContinuousClock.now
      let verdict = try verdict(of: check, copy.path)
      end(Outcome(check: check, verdict: verdict, duration: started.duration(to: .now)))
    }
    // The private copy must exist until the last check has ended.
    withExtendedLifetime(copy) {}
  }

  /// Uses the configuration derived from the schema, if the plugin accepts it.
  private mutating func deriveInstance(_ copy: String) throws(PluginError) {
    let request = TrialRequest(
      library: copy, path: path, task: TrialRun.schemaTask, instances: [], deadline: deadline,
      limits: TrialLimits().allowing(sanitizer))
    let report = try TrialProcess(request, helper: helper).run()
    guard let text = report.result?["schema"]?.string, let schema = try? JSONValue(parsing: text),
      let configuration = ExampleConfiguration(schema: schema).value, !Array(configuration.members).isEmpty
    else { return }
    let derived = [TrialRequest.Instance(name: "plugin", configuration: configuration)]
    guard let error = try refusal(of: derived, copy) else { return instances = derived }
    payload["refusedConfiguration"] = JSONValue("\(configuration)")
    payload["refusal"] = JSONValue(error.reason)
  }

  /// Why the plugin does not accept these configurations; nil if it accepts them.
  private func refusal(of instances: [TrialRequest.Instance], _ copy: String) throws(PluginError) -> PluginError? {
    let request = TrialRequest(
      library: copy, path: path, instances: instances, deadline: deadline, limits: TrialLimits().allowing(sanitizer))
    let report = try TrialProcess(request, helper: helper).run()
    guard let error = report.failure(of: request.subject, secrets: TrialSecrets(instances.map(\.configuration))),
      error.code == .configuration || error.code == .createFailed
    else { return nil }
    return error
  }

  private func verdict(of check: ConformanceCheck, _ copy: String) throws(PluginError) -> CheckVerdict {
    let request = TrialRequest(
      library: copy, path: path, task: check.name, instances: instances, seed: seed, deadline: deadline,
      limits: TrialLimits(processorSeconds: UInt64(clamping: deadline.components.seconds) + 1, descriptors: 1024)
        .allowing(sanitizer),
      payload: payload)
    let report = try TrialProcess(request, helper: helper).run()
    let secrets = TrialSecrets(instances.map(\.configuration))
    // If the check has no result, or the end of its process shows a fault, the verdict is that fault.
    if CheckVerdict(report.result) == nil || report.hasProcessFailure {
      guard let failure = report.failure(of: request.subject, secrets: secrets) else {
        return .failed("the check gave no answer")
      }
      return .failed(failure.reason)
    }
    if let warning = report.exitWarning { return .failed("it \(warning)") }
    if check.name == "quiet-output", report.output.byteCount > 0 {
      return .failed("it wrote \(report.output.byteCount) bytes to standard output, which belongs to the program")
    }
    return CheckVerdict(report.result) ?? .failed("the check gave no answer")
  }
}
