import Glibc
import Sluice
import SluiceAssembly
import SluiceJSON
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// The answer to a command.
enum ControlAnswer: Sendable {
  case document(JSONValue)
  /// Prometheus' text format.
  case text(String)
}

/// The commands that an engine understands.
struct ControlCommands: Sendable {
  private let engine: Engine
  private let reload: ControlServer.Reload
  private let started = UniversalTime.now

  init(_ engine: Engine, reload: @escaping ControlServer.Reload) {
    self.engine = engine
    self.reload = reload
  }

  func status() async -> JSONValue {
    let document = await engine.status.document()
    document["engine"] = [
      "version": JSONValue(Engine.version), "pid": JSONValue(Int64(getpid())),
      "startedAt": JSONValue(UniversalTime.text(started)),
    ]
    document["engine"]?["configuration"] = engine.configuration.file.map { JSONValue(SystemPath.absolute($0)) }
    document["update"] = await engine.updateStatus
    return document
  }

  func metrics(_ isText: Bool) -> ControlAnswer {
    isText ? .text(engine.prometheusText()) : .document(engine.metricsDocument())
  }

  func swap(_ document: JSONValue) async throws(ControlError) -> ControlAnswer {
    try document.check(["plugins", "configuration", "sources"] + CanarySettings.members)
    let plugins = try document.names("plugins")
    let sources = try document.paths("sources")
    guard let source = document["configuration"], !source.isNull else {
      let canary = try canary(document)
      return try await report { () throws(SwapError) in
        try await engine.swap(plugins: plugins, sources: sources, canary: canary)
      }
    }
    if let member = CanarySettings.members.first(where: { document[$0].map { !$0.isNull } ?? false }) {
      throw ControlError(
        .invalidRequest, "\"\(member)\" and \"configuration\" are both given",
        advice: "leave out \"\(member)\": a configuration is published at once")
    }
    guard plugins == nil else {
      throw ControlError(
        .invalidRequest, "\"plugins\" and \"configuration\" are both given",
        advice: "leave out \"plugins\": with a configuration, every library that has changed is swapped")
    }
    let configuration = try configuration(source, sources)
    return try await report { () throws(SwapError) in try await reload(configuration) }
  }

  /// Whether a swap begins a canary. An object has the settings that differ from those of the configuration.
  private func canary(_ document: JSONValue) throws(ControlError) -> CanaryChoice {
    let given = CanarySettings.members.compactMap { document[$0] }.filter { !$0.isNull }
    if given.isEmpty { return .configured }
    if document["canary"]?.bool == false {
      guard given.count == 1 else {
        throw ControlError(.invalidRequest, "\"shadow\" is given, and \"canary\" is false, which publishes at once")
      }
      return .none
    }
    do throws(ConfigurationError) {
      return .settings(try CanarySettings(document, over: engine.configuration.swap.canary))
    } catch {
      throw ControlError(.invalidRequest, "\(error.location.key): \(error.reason)", advice: error.advice)
    }
  }

  /// The running canary, and the reports of the canaries so far.
  func canary() async -> JSONValue {
    let status = await engine.status.document()
    let reports = status["history"].map { Array($0.elements) } ?? []
    let document = JSONValue.object()
    for member in ["canary", "deciding"] { document[member] = status[member] }
    if status["probation"]?["followsCanary"]?.bool == true { document["probation"] = status["probation"] }
    document["history"] = .array(
      of: reports.filter { report in
        report["canary"] != nil || report["endedCanary"] != nil
          || report["trigger"]?.string == "canary" && report["outcome"]?.string == "published"
          || report["trigger"]?.string == "probation"
      })
    return document
  }

  func promote(_ document: JSONValue) async throws(ControlError) -> ControlAnswer {
    try document.check([])
    return try await report { () throws(SwapError) in try await engine.promoteCanary() }
  }

  func abort(_ document: JSONValue) async throws(ControlError) -> ControlAnswer {
    try document.check([])
    return try await report { () throws(SwapError) in try await engine.abortCanary() }
  }

  func rollback(_ document: JSONValue) async throws(ControlError) -> ControlAnswer {
    try document.check([])
    return try await report { () throws(SwapError) in try await engine.rollback() }
  }

  func notify(_ document: JSONValue) async throws(ControlError) -> ControlAnswer {
    try document.check(["topic", "payload", "deadline"])
    guard let topic = document["topic"]?.string, !topic.isEmpty else {
      throw ControlError(.invalidRequest, "topic: expected a string that is not empty")
    }
    let payload = document["payload"] ?? .object()
    var deadline = Duration.seconds(30)
    if let value = document["deadline"], !value.isNull {
      guard let given = value.string.flatMap({ DurationText.duration($0) }) else {
        throw ControlError(.invalidRequest, "deadline: expected a duration such as \"500ms\" or \"30s\"")
      }
      deadline = given
    }
    let result = await engine.notify(topic: topic, payload: payload, deadline: deadline)
    if result.outcome == .closing {
      throw ControlError(.shutdown, "the engine was shut down before the notification had an outcome")
    }
    return .document(result.document)
  }

  private func report(
    _ work: () async throws(SwapError) -> SwapReport
  ) async throws(ControlError) -> ControlAnswer {
    do { return .document(try await work().document()) } catch { throw ControlError(error) }
  }

  /// Reads the configuration from a path, or takes the given document as the configuration.
  /// - Parameter sources: the files to read in place of a path.
  private func configuration(
    _ source: JSONValue, _ sources: [String: String]
  ) throws(ControlError) -> Configuration {
    do {
      if let path = source.string {
        guard path.hasPrefix("/") else {
          throw ControlError(
            .invalidRequest, "configuration: expected an absolute path, found \(PlainText.quote(path))")
        }
        return try Configuration(
          text: Configuration.text(of: sources[path] ?? path), file: path, installedPlugins: engine.installedPlugins)
      }
      guard source.isObject, let text = try? source.serialized() else {
        throw ControlError(.invalidRequest, "configuration: expected a path or an object")
      }
      return try Configuration(text: text, installedPlugins: engine.installedPlugins)
    } catch let error as ConfigurationError {
      throw ControlError(.configuration, "\(error.location): \(error.reason)", advice: error.advice)
    } catch let error as ControlError {
      throw error
    } catch { throw ControlError(.configuration, "\(error)") }
  }
}

extension ControlError {
  init(_ error: SwapError) {
    let code: Code =
      switch error.report.outcome {
      case .superseded: .superseded
      case .cancelled: .cancelled
      case .shutdown: .shutdown
      case .refused, .published, .canary, .unfinished, .unchanged, .rolledBack: .refused
      }
    self.init(code, "\(error.report)", advice: code == .refused ? "the running build stays in use" : nil)
  }
}

extension NotificationResult {
  fileprivate var document: JSONValue {
    let document: JSONValue = [
      "outcome": JSONValue("\(outcome)"), "durationMs": JSONValue((duration / .microseconds(1)).rounded() / 1000),
    ]
    switch taker {
    case .plugin(let stage, let id, let generation):
      document["taker"] = [
        "plugin": JSONValue(stage), "pluginId": JSONValue(id), "generation": JSONValue(Int64(generation)),
      ]
    case .program: document["taker"] = ["program": true]
    case .updater: document["taker"] = ["updater": true]
    case nil: break
    }
    return document
  }
}

extension JSONValue {
  /// Refuses members that the command does not know, because the client expects each member to have an effect.
  fileprivate func check(_ known: [String]) throws(ControlError) {
    for (key, _) in members where !known.contains(key) {
      throw ControlError(
        .invalidRequest, "unknown member \(PlainText.quote(key))",
        advice: known.isEmpty ? "send no document" : "known here: \(known.joined(separator: ", "))")
    }
  }

  /// A list of names; nil if the document has none.
  fileprivate func names(_ key: String) throws(ControlError) -> [String]? {
    guard let list = self[key], !list.isNull else { return nil }
    let names = list.elements.compactMap(\.string)
    guard list.isArray, names.count == list.count, !names.isEmpty else {
      throw ControlError(.invalidRequest, "\(key): expected a list of names")
    }
    return names
  }

  /// An object with an absolute path for each absolute path; empty if the document has none.
  fileprivate func paths(_ key: String) throws(ControlError) -> [String: String] {
    guard let object = self[key], !object.isNull else { return [:] }
    var paths: [String: String] = [:]
    for (path, value) in object.members {
      if let file = value.string, file.hasPrefix("/"), path.hasPrefix("/") { paths[path] = file }
    }
    guard object.isObject, paths.count == object.count else {
      throw ControlError(.invalidRequest, "\(key): expected an object with an absolute path for each absolute path")
    }
    return paths
  }
}
