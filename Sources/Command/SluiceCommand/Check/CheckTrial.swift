import Sluice
import SluiceAssembly
import SluiceJSON
import SluiceMessages
import SluicePipeline
import SluicePluginFile
import SluicePluginHost
import SluiceTransport
import SluiceTrial

/// The part of `sluice check` that runs code of the plugins, always in child processes. If a library crashes, ends its
/// process or hangs, `check` reports that as a problem of the configuration. The command itself is not affected.
///
///     each library by itself, as before a swap ─ the whole engine: start, activate, end
struct CheckTrial {
  /// The name by which the helper process knows this task.
  static let task = "check"
  private static let deadline = Duration.seconds(60)
  /// The limits are higher than for a trial of one library, because an engine has threads and descriptors for each of
  /// its loops.
  private static let limits = TrialLimits(processorSeconds: 60, memoryBytes: 64 << 30, descriptors: 4096)

  private let file: String
  /// The content of the file. It is kept, because a file such as a pipe can be read only once.
  private let text: [UInt8]
  private let configuration: Configuration

  init(_ file: String, _ text: [UInt8], _ configuration: Configuration) {
    self.file = file
    self.text = text
    self.configuration = configuration
  }

  /// What the trial has found.
  struct Outcome {
    var problems: [CommandError] = []
    /// The lists that a plugin fits and is not in. Found only if there is no problem.
    var missingLists: [MissingList] = []
    /// What a canary would not do as the configuration suggests; one sentence each. Found only if there is no problem.
    var warnings: [String] = []
    /// Whether the engine or a plugin has written something.
    var hasSpoken = false
  }

  func outcome() throws(CommandError) -> Outcome {
    guard !configuration.libraries.isEmpty else { return start() }
    let helper = try Self.helper()
    let staged: [StagedLibrary]
    do { staged = try Engine.stage(configuration) } catch { throw EngineStart.failure(error) }
    return try outcome(of: staged, remembering: nil, helper)
  }

  /// Like ``outcome()``, but uses private copies that exist, returns the problems only, and does not repeat what was
  /// passed before with the same content and configuration (``VerdictList``).
  func problems(of staged: [StagedLibrary], remembering verdicts: VerdictList?) throws(CommandError) -> [CommandError] {
    guard !staged.isEmpty else { return try outcome().problems }
    return try outcome(of: staged, remembering: verdicts, Self.helper()).problems
  }

  private func outcome(
    of staged: [StagedLibrary], remembering verdicts: VerdictList?, _ helper: TrialHelper
  ) throws(CommandError) -> Outcome {
    let key = verdicts == nil ? nil : key(helper, Engine.candidates(of: configuration, staged))
    if let key, verdicts?.contains(key) == true { return Outcome(problems: tlsProblems()) }
    // Each library is tried by itself first, because that trial reports which instance and call failed. A trial of the
    // whole engine cannot report this.
    guard let trial = HelperTrial(helper: helper.path) else { return Outcome() }
    let refusals = Engine.trialRefusals(of: configuration, staged, trial: trial)
    guard refusals.isEmpty else { return Outcome(problems: refusals.map(EngineStart.failure)) }
    let start = try startInChild(helper)
    if let key, start.problems.isEmpty, !start.hasSpoken { verdicts?.add(key) }
    return start
  }

  /// A hash of what decides whether an engine with these libraries starts, except for the files of TLS. Nil if the result
  /// cannot be remembered.
  private func key(_ helper: TrialHelper, _ candidates: [TrialCandidate]) -> ContentHash? {
    var key = TrialFingerprint(helper, task: Self.task)
    key.add(file)
    key.add(text)
    for document in configuration.pluginConfigurations { key.add((try? document.serialized()) ?? []) }
    for candidate in candidates {
      key.add(candidate.path)
      guard key.add(candidate) else { return nil }
    }
    return key.hash
  }

  /// The files of TLS can change at any time, and reading them costs little.
  private func tlsProblems() -> [CommandError] {
    var configuration = configuration
    PipedTLSFiles.leaveOut(of: &configuration.transport.tls)
    do throws(TransportError) { try configuration.transport.check() } catch {
      return [CommandError(.usage, "\(error)")]
    }
    do throws(CommandError) { try EngineStart.checkTLS(&configuration) } catch { return [error] }
    return []
  }

  private static func helper() throws(CommandError) -> TrialHelper {
    guard let helper = TrialHelper.find() else {
      throw CommandError(.failed, "check: no sluice command found in /proc/self/exe, next to the program or on PATH")
    }
    return helper
  }

  // MARK: In this process

  private func start() -> Outcome {
    do throws(CommandError) {
      return try Self.startAndEnd(configuration)
    } catch { return Outcome(problems: [error]) }
  }

  private static func startAndEnd(
    _ configuration: Configuration, _ begin: (String) -> Void = { _ in }
  ) throws(CommandError) -> Outcome {
    begin("while the engine was starting, perhaps in the activate function of a plugin")
    var configuration = configuration
    PipedTLSFiles.leaveOut(of: &configuration.transport.tls)
    let engine = try EngineStart.engine(configuration, updates: .ignored, trial: nil)
    let outcome = Outcome(missingLists: engine.missingLists, warnings: engine.canaryWarnings)
    begin("while the engine was ending, perhaps in the deactivate or destroy function of a plugin")
    WaitingThread.run { await engine.shutdown(drain: EngineStart.farewell) }
    begin("after the engine had ended")
    return outcome
  }

  private func startInChild(_ helper: TrialHelper) throws(CommandError) -> Outcome {
    let request = TrialRequest(
      library: "", path: file, task: Self.task, instances: [], deadline: Self.deadline, limits: Self.limits,
      payload: ["file": JSONValue(file), "text": JSONValue(String(decoding: text, as: UTF8.self))])
    let report: TrialReport
    do throws(PluginError) { report = try TrialProcess(request, helper: helper).run() } catch {
      throw CommandError(.refused, "\(file): its plugins, started together, \(error.reason)")
    }
    // The messages that the engine and its plugins have written in the child process.
    let said = PrintableText.of(String(decoding: report.errorOutput.tail, as: UTF8.self))
    if !said.isEmpty { StandardError.say(said.hasSuffix("\n") ? String(said.dropLast()) : said) }
    let secrets = TrialSecrets(configuration.pluginConfigurations)
    if report.hasProcessFailure, let failure = report.failure(of: request.subject, secrets: secrets) {
      let advice = failure.advice.map { "; \($0)" } ?? ""
      let problem = CommandError(.refused, "\(file): a plugin \(failure.reason)\(advice)")
      return Outcome(problems: [problem], hasSpoken: !said.isEmpty)
    }
    return Outcome(
      problems: report.result?["problems"]?.elements.map(Self.problem) ?? [],
      missingLists: report.result?["missingLists"]?.elements.compactMap(MissingList.init) ?? [],
      warnings: report.result?["warnings"]?.elements.compactMap(\.string) ?? [],
      hasSpoken: !said.isEmpty)
  }

  private static func problem(_ document: JSONValue) -> CommandError {
    let code = document["status"]?.integer.flatMap { Int32(exactly: $0) } ?? ExitStatus.failed.code
    return CommandError(ExitStatus(code: code), document["message"]?.string ?? "is refused")
  }

  // MARK: In the child process

  /// Starts an engine with the configuration, and shuts it down.
  static func perform(_ request: TrialRequest, _ channel: TrialChannel) {
    do throws(CommandError) {
      let text = Array((request.payload?["text"]?.string ?? "").utf8)
      let configuration = try EngineStart.configuration(text, of: request.payload?["file"]?.string ?? "")
      let outcome = try startAndEnd(configuration) { channel.step($0) }
      channel.finish([
        "problems": .array(), "missingLists": .array(of: outcome.missingLists.map(\.document)),
        "warnings": .array(of: outcome.warnings),
      ])
    } catch {
      let problem: JSONValue = ["message": JSONValue(error.message), "status": JSONValue(Int64(error.status.code))]
      channel.finish(["problems": .array(of: [problem])])
    }
  }
}

extension MissingList {
  /// Such as `{"plugin": "tenant", "list": "response", "callbacks": ["on_failure"]}`.
  var document: JSONValue {
    ["plugin": JSONValue(plugin), "list": JSONValue(list.rawValue), "callbacks": .array(of: callbacks)]
  }

  init?(_ document: JSONValue) {
    guard let plugin = document["plugin"]?.string, let list = document["list"]?.string.flatMap(StageList.init) else {
      return nil
    }
    self.init(plugin: plugin, list: list, callbacks: document["callbacks"]?.elements.compactMap(\.string) ?? [])
  }
}
