import SluiceAssembly
import SluiceJSON
import SluiceMessages
import SluicePipeline
import SluicePluginHost
import SluiceSupport
package import SluiceTrial

/// A replay in the child process of a helper. It reports each exchange when the exchange is over.
package struct ReplayRun {
  /// The name of the task, for a ``TrialRequest``.
  package static let task = "replay"

  private let request: TrialRequest
  private let channel: TrialChannel

  /// Replays the request's exchanges without sending anything.
  package static func perform(_ request: TrialRequest, _ channel: TrialChannel) {
    do throws(PluginError) {
      try ReplayRun(request: request, channel: channel).run()
      channel.finish(["passed": true])
    } catch {
      channel.finish(["error": error.document])
    }
  }

  private func run() throws(PluginError) {
    guard let replay = request.payload.flatMap({ ReplayRequest($0) }) else {
      throw error(.trialUnavailable, "could not be replayed: the helper cannot read the replay's request")
    }
    let host: ReplayHost
    do throws(EngineError) {
      let configuration = try Self.configuration(replay)
      host = try ReplayHost(
        configuration, copies: replay.copies, key: replay.key, patience: replay.patience,
        time: replay.exchanges.first.flatMap { try? RecordedExchange($0.1, allowsFiles: true) }?.time ?? .zero,
        callOuts: Self.callOuts(replay, configuration), step: channel.step)
    } catch {
      guard let cause = error.underlying as? PluginError else { throw self.error(.configuration, "\(error)") }
      throw cause
    }
    for (number, (index, document)) in replay.exchanges.enumerated() {
      try run(index, document, "request \(number + 1) of \(replay.exchanges.count)", host)
    }
    channel.step("in deactivate or destroy of its instances")
    host.close()
    channel.step("after its instances were destroyed")
  }

  private static func callOuts(_ replay: ReplayRequest, _ configuration: Configuration) -> ReplayCallOuts {
    let entries = replay.callOuts.compactMap { exchange, document in
      (try? RecordedCallOut(document, .line)).map { ReplayCallOuts.Entry(exchange: exchange, $0) }
    }
    return ReplayCallOuts(
      entries, given: replay.answer.flatMap { try? ResponseDocument.read($0, rules: .line) },
      secrets: configuration.secrets)
  }

  private static func configuration(_ replay: ReplayRequest) throws(EngineError) -> Configuration {
    do {
      return try Configuration(
        text: Array(replay.configuration.utf8), file: replay.file,
        installedPlugins: InstalledPlugins(given: replay.pluginFolder))
    } catch { throw .configuration(error) }
  }

  private func run(_ index: Int, _ document: JSONValue, _ words: String, _ host: ReplayHost) throws(PluginError) {
    let exchange: RecordedExchange
    do { exchange = try RecordedExchange(document, allowsFiles: true) } catch {
      return channel.report(["index": JSONValue(Int64(index)), "omitted": JSONValue("\(error)")])
    }
    channel.step("with \(words)")
    let place = Locked("with \(words)")
    let channel = channel
    let replayed = host.replay(exchange, index: index) { stage, callback in
      let step = "in \(callback.rawValue) of \"\(stage)\", with \(words)"
      place.withLock { $0 = step }
      channel.step(step)
    }
    guard let replayed else {
      throw error(.trialTimedOut, "exceeded the time limit \(place.withLock { $0 })")
    }
    channel.report(["index": JSONValue(Int64(index)), "replayed": replayed.document])
  }

  private func error(_ code: PluginError.Code, _ reason: String) -> PluginError {
    PluginError(code, request.subject, reason)
  }
}
