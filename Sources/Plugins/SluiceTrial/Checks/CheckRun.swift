import SluiceJSON
import SluiceMessages
import SluicePipeline
import SluicePluginHost

/// One running check, in its child process.
struct CheckRun {
  let request: TrialRequest
  let channel: TrialChannel

  init(_ request: TrialRequest, _ channel: TrialChannel) {
    self.request = request
    self.channel = channel
  }

  func verdict(of check: ConformanceCheck) -> CheckVerdict {
    do {
      try check.answer(self)
      channel.step("after the check was over")
      return .passed
    } catch let failure as TrialFailure {
      switch failure.kind {
      case .failed: return .failed(failure.reason)
      case .skipped: return .skipped(failure.reason)
      case .absent: return .absent(failure.reason)
      }
    } catch let error as PluginError {
      return .failed(error.reason)
    } catch {
      return .failed("\(error)")
    }
  }

  var name: String { request.instances.first?.name ?? "plugin" }

  /// The configuration for the check: the user's, or an empty one.
  var configuration: JSONValue { request.instances.first?.configuration ?? .object() }

  /// Whether the user has given a configuration.
  var hasConfiguration: Bool { !request.instances.isEmpty }

  var random: RandomBits { RandomBits(seed: request.seed) }

  /// A host that answers call-outs with the user's response, or otherwise with a generic one.
  func host(
    loops: Int = 1, features: HostFeatures = .offered,
    noteLacking: @escaping @Sendable (HostFeatures, String) -> Void = { _, _ in },
    answer: @escaping TrialHost.Answer = { _ in .response(Response(status: 200)) }
  ) throws(TrialFailure) -> TrialHost {
    try TrialHost(
      loops: loops, features: features, callOutAnswer: CallOutAnswer(request.payload).response,
      noteLacking: noteLacking, answer: answer)
  }

  func library(_ host: TrialHost) throws -> TrialLibrary { try TrialLibrary(request, channel, host: host.runtime) }

  /// Creates an instance with the user's configuration. If the user gave none and the plugin needs one, the check is
  /// skipped.
  func instance(_ generation: PluginGeneration, _ host: TrialHost, name: String? = nil) throws -> PluginInstance {
    channel.step("in create")
    do {
      return try PluginInstance(
        generation, name: name ?? self.name, configuration: configuration, runtime: host.runtime)
    } catch {
      let isWanted = !hasConfiguration && (error.code == .createFailed || error.code == .configuration)
      guard isWanted else { throw error }
      let derived = request.payload?["refusedConfiguration"]?.string
      let why = derived.map {
        "the one derived from its schema, \($0), was refused: \(request.payload?["refusal"]?.string ?? "")"
      }
      throw TrialFailure.skip("it needs a configuration; give one with --config (\(why ?? error.reason))")
    }
  }

  /// Creates and activates an instance.
  func activeInstance(_ generation: PluginGeneration, _ host: TrialHost) throws -> PluginInstance {
    let instance = try instance(generation, host)
    channel.step("in activate")
    try instance.activate()
    return instance
  }

  func destroy(_ instance: PluginInstance, within limit: Duration = .seconds(2)) throws {
    channel.step("in deactivate or destroy")
    guard instance.destroy(within: limit) else {
      throw TrialFailure("it still had work under way \(limit) after the end of its instance")
    }
    guard instance.violations[.unreleasedList] == 0 else { throw TrialFailure("it \(Violation.unreleasedList.text)") }
  }

  /// Runs the body with an active plugin, and then ends the plugin. Returns the host for further checks.
  ///
  /// - Parameter prepare: called before the library is loaded, when the host has its loops.
  @discardableResult
  func withActiveInstance(
    loops: Int = 1, answer: @escaping TrialHost.Answer = TrafficGenerator.echo, prepare: (TrialHost) -> Void = { _ in },
    _ body: (TrialHost, PluginInstance) throws -> Void
  ) throws -> TrialHost {
    let host = try self.host(loops: loops, answer: answer)
    prepare(host)
    let instance = try activeInstance(library(host).generation, host)
    channel.step("while requests went through it")
    try body(host, instance)
    try destroy(instance)
    return host
  }
}
