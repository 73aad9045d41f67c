import Glibc
import Sluice
import SluiceAssembly
import SluiceForeign
import SluiceJSON
import SluiceMessages
import SluicePluginHost
import SluiceSupport

/// `sluice envoy`.
enum EnvoyCommand {
  static let plan = CommandDescription(
    "envoy plan", summary: "Check a configuration and pass it to Envoy",
    operandAdvice: "name the configuration with -c and the folder with -o",
    details: """
      Checks the configuration, tries its plugins out in a child process, copies their libraries into the folder, and
      makes this plan the current one. Each Envoy whose filter names the folder takes the plan at once, without a restart.
      Run the command as the user of Envoy: only the owner can use the folder.
      """,
    options: [
      Option("config", "c", "FILE", "The configuration"),
      Option("output", "o", "FOLDER", "The folder of the plans; it is made if it does not exist"),
      Option("wait", nil, "TIME", "Wait until each running Envoy has taken or refused the plan, at most this long"),
    ]
  ) { arguments throws(CommandError) in try makePlan(arguments) }

  static let config = CommandDescription(
    "envoy config", summary: "Print the parts of Envoy's configuration that name the filters",
    operands: "FOLDER", operandCount: 1...1,
    details:
      "Prints YAML for the HTTP filters of a listener, and for the upstream filters of a cluster, which are needed if"
      + " the configuration has issue stages.",
    options: []
  ) { arguments throws(CommandError) in
    try StandardOutput.write(EnvoyFragments.text(of: Paths.absolute(arguments.operands[0])))
    return .succeeded
  }

  static let status = CommandDescription(
    "envoy status", summary: "Show which plan each Envoy serves",
    operands: "FOLDER", operandCount: 1...1,
    details:
      "Asks each running Envoy for its plan, its builds, its counts, and its last refusal. The status is 1 if no Envoy"
      + " answers, or if one serves another plan than the current one.",
    options: [Option("json", nil, nil, "Print the result as a JSON document")]
  ) { arguments throws(CommandError) in try showStatus(arguments) }

  private static func folder(_ arguments: ParsedArguments, _ command: String) throws(CommandError) -> PlanFolder {
    let path = Paths.absolute(arguments.operands[0])
    guard Paths.isFolder(path) else {
      throw CommandError(.usage, "\(command): \(PlainText.path(path)) is no folder; \"sluice envoy plan\" makes it")
    }
    return PlanFolder(path)
  }

  // MARK: Plan

  private static func makePlan(_ arguments: ParsedArguments) throws(CommandError) -> ExitStatus {
    guard let file = arguments["config"] else {
      throw CommandError(.usage, "envoy plan: expected -c FILE, a configuration")
    }
    guard let output = arguments["output"] else {
      throw CommandError(.usage, "envoy plan: expected -o FOLDER, the folder of the plans")
    }
    let wait = try arguments.duration("wait")
    let plan = try ForeignPlan(file, for: "envoy plan") { _ in HostOffer(host: "sluice envoy", features: .envoy) }
    try plan.check()
    let folder = PlanFolder(Paths.absolute(output))
    let number: Int
    do throws(PlanFolder.Fault) { number = try folder.publish(plan) } catch {
      throw CommandError(.failed, "envoy plan: \(error)")
    }
    try StandardOutput.write("plan \(number) of \(PlainText.path(output)) is the current one\n")
    guard let wait else { return .succeeded }
    return report(number, in: folder, within: wait)
  }

  /// Waits until each running Envoy has taken or refused a plan.
  private static func report(
    _ number: Int, in folder: PlanFolder, within limit: Duration
  ) -> ExitStatus {
    let deadline = MonotonicClock.now + limit
    while true {
      let processes = EnvoyProcess.all(in: folder)
      let waiting = processes.filter { $0.plan != number && $0.refusedPlan != number }
      if waiting.isEmpty || MonotonicClock.now >= deadline {
        for process in processes where process.plan != number {
          let reason = process.refusedPlan == number ? process.refusal ?? "" : "it has not looked yet"
          StandardError.say(PrintableText.of("Envoy \(process.pid) serves plan \(process.plan): \(reason)"))
        }
        return processes.allSatisfy { $0.plan == number } ? .succeeded : .failed
      }
      usleep(5_000)
    }
  }

  // MARK: Status

  private static func showStatus(_ arguments: ParsedArguments) throws(CommandError) -> ExitStatus {
    let folder = try folder(arguments, "envoy status")
    let current: Int?
    do throws(PlanFolder.Fault) { current = try folder.currentNumber() } catch {
      throw CommandError(.failed, "envoy status: \(error)")
    }
    let processes = EnvoyProcess.asked(in: folder)
    if arguments.has("json") {
      let document: JSONValue = ["processes": .array(of: processes.map(\.document))]
      if let current { document["current"] = JSONValue(Int64(current)) }
      try StandardOutput.write("\(document)\n")
    } else {
      try StandardOutput.write(PrintableText.of(EnvoyStatusText.of(folder, current, processes)))
    }
    return !processes.isEmpty && processes.allSatisfy { $0.plan == current } ? .succeeded : .failed
  }
}
