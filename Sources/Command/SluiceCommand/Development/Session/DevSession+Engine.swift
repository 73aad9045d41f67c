import Glibc
import Sluice
import SluiceControl
import SluiceJSON
import SluicePluginFile
import SluicePluginHost
import SluiceSupport

// The engine's process, from its start to its end.
extension DevSession {
  /// - Parameter reason: why the engine starts again; nil for the first start, and for a start after a time without an
  ///   engine.
  func start(because reason: String?) {
    guard engine == nil else { return }
    // The engine will read the current file, so the session must read it as well.
    if isReloadDue {
      isReloadDue = false
      readConfiguration()
    }
    guard let configuration else { return }
    // A missing library is being built. The engine starts when that build has ended.
    guard
      !configuration.libraries.contains(where: { isBeingBuilt($0) && good.newest(of: $0) == nil && !Self.isThere($0) })
    else { return }
    engines += 1
    let number = engines
    do throws(CommandError) {
      var order = EngineOrder(configuration: settings.configuration)
      order.listen = endpoint?.address
      order.crashRecord = sources.crashRecord(number)
      order.sources = try copies(for: configuration)
      let link = try endpoint?.connect()
      defer { if let link { close(link.inherited) } }
      // The session captures the output of the engine, and shows the message of a crash itself.
      let process = try SupervisedProcess(
        DevEngine.arguments, environment: Self.environment, passing: link?.inherited ?? -1
      ) { [mailbox] message in mailbox.put(.engine(number, message)) }
      process.send(order.document)
      if !recordings.isEmpty { process.send(["recordings": .array(of: recordings)]) }
      engine = RunningEngine(number: number, process: process)
      engine?.restart = reason
      engine?.clients = link?.clients
      engine?.files = Array(order.sources.values)
      // If this start fails, the reason must be reported again.
      waitingReason = nil
    } catch {
      wait(because: error.message)
    }
  }

  private static func isThere(_ path: String) -> Bool { access(path, R_OK) == 0 }

  /// Disables the backtraces of Swift's runtime, which take seconds.
  private static let environment = ["SWIFT_BACKTRACE": "enable=no"]

  /// The files from which the engine reads the configuration and the libraries instead of from their own paths, so that
  /// both processes decide about the same content. If the file at a library's path is not the build that served last,
  /// the engine gets the build that served last, unless the session has given up on that build.
  private func copies(for configuration: Configuration) throws(CommandError) -> [String: String] {
    var files = [settings.configuration: try sources.write(configuration.text ?? [], as: "configuration.json")]
    for library in configuration.libraries {
      libraries[library]?.seen = SystemPath.status(of: library)
      let image = try? LibraryImage(reading: library)
      libraries[library]?.started = image?.hash.hex
      if let newest = good.newest(of: library), image == nil || !suspects.contains(newest.hash) {
        files[library] = try sources.write(newest.bytes, as: "\(newest.hash).so")
      } else if let image {
        files[library] = try sources.write(image.bytes, as: "\(image.hash.hex).so")
      }
    }
    return files
  }

  func handle(_ message: SupervisedProcess.Message) {
    switch message {
    case .document(let document): handle(document)
    case .written(let line):
      let line = PrintableText.of(EscapeSequences.removed(from: line))
      engine?.output.append(line)
      say(DevEvent(.output, line, tone: .quiet).with("text", JSONValue(line)))
    case .ended(let status): engineEnded(status)
    }
  }

  private func handle(_ document: JSONValue) {
    switch document["event"]?.string {
    case "ready": engineIsReady(document)
    case "failed": wait(because: document["message"]?.string ?? "the engine did not start")
    case "pulse": notePulse(document)
    case "swap": swapEnded(document)
    case "request": requestEnded(document)
    case "log": say(Self.log(document))
    case "difference": differenceFound(document)
    case "recording": if let exchange = document["exchange"] { recordings.append(exchange) }
    default: break
    }
  }

  private func engineIsReady(_ document: JSONValue) {
    watchPulse()
    let client: ControlClient
    do throws(ControlError) { client = try ControlClient(at: document["socket"]?.string) } catch {
      return wait(because: "\(error)")
    }
    engine?.client = client
    sources.clear(engine?.files ?? [])
    engine?.files = []
    waitingReason = nil
    knownReason = nil
    adopt(document["builds"])
    let event = started(document)
    hasStarted = true
    say(event)
    sendRequests()
    // Handles changes since the start. Also handles each library whose file contains another build than the one that
    // the engine has loaded.
    librariesChanged(libraries.mapValues { _ in MonotonicClock.now }, because: .session)
    // If a swap is running, the reload follows when the swap has ended.
    if isReloadDue, engine?.command == nil { configurationChanged() }
  }

  private func started(_ document: JSONValue) -> DevEvent {
    let reason = engine?.restart
    var text = hasStarted ? "restarted" : "started"
    text += ", " + Self.list(good.serving.values.sorted { $0.library < $1.library })
    if let reason { text += ": \(reason)" }
    if let endpoint, !hasStarted { text += "; http://\(endpoint.address)" }
    var event = DevEvent(hasStarted ? .restarted : .started, text, tone: .good)
      .with("process", JSONValue(Int64(engine?.process.id ?? 0))).with("socket", document["socket"])
      .with("builds", document["builds"]).with("snapshot", document["snapshot"])
      .with("listen", endpoint.map { JSONValue($0.address) }).with("reason", reason.map { JSONValue($0) })
    event.plugins = []
    return event
  }

  private static func list(_ builds: [GoodBuilds.Build]) -> String {
    builds.isEmpty
      ? "no plugins" : builds.map { "\($0.plugins.joined(separator: ", ")) \($0.version)" }.joined(separator: "; ")
  }

  func adopt(_ builds: JSONValue?) {
    var candidates: [String: [UInt8]] = [:]
    for state in libraries.values {
      if let candidate = state.candidate { candidates[candidate.hash] = candidate.bytes }
    }
    let all = builds.map { $0.elements.compactMap { GoodBuilds.Build($0) } } ?? []
    for build in all { engine?.builds[build.generation] = (build.library, build.hash) }
    good.adopt(all, candidates: candidates, store: configuration?.store)
    for build in all where libraries[build.library]?.candidate?.hash == build.hash {
      libraries[build.library]?.candidate = nil
    }
  }

  private static func log(_ document: JSONValue) -> DevEvent {
    let level = document["level"]?.string ?? "info"
    let plugins = [document["plugin"]?.string].compactMap(\.self)
    let message = document["message"]?.string ?? ""
    let tone: DevEvent.Tone = level == "error" ? .bad : level == "warning" ? .doubtful : .quiet
    let text = message + LogOutput.words(ofSubject: document)
    var event = DevEvent(.log, plugins: plugins, level == "info" ? text : "\(level): \(text)", tone: tone)
      .with("level", JSONValue(level)).with("message", JSONValue(message)).with("generation", document["generation"])
    for key in LogOutput.subjectKeys { event = event.with(key, document[key]) }
    return event
  }

  /// Reports that nothing can serve until something changes.
  func wait(because reason: String) {
    guard reason != waitingReason else { return }
    waitingReason = reason
    defer { knownReason = nil }
    guard reason != knownReason else { return }
    say(
      DevEvent(.waiting, "nothing serves: \(reason); waiting for a change", tone: .bad)
        .with("reason", JSONValue(reason)))
  }

  /// Stops the engine, and starts it again after it has ended.
  func restart(because reason: String) {
    guard let engine, !engine.isStopping else { return start(because: reason) }
    self.engine?.isStopping = true
    self.engine?.restart = reason
    engine.process.stop(drain: Self.drain)
    after(Self.killDelay, .killEngine(engine.number))
  }

  /// Ends the session: stops the engine and the running builds, and waits for them. An engine that is already stuck is
  /// killed at once.
  /// - Parameter messages: the messages that arrived after the message that ended the session. The end of a process is
  ///   reported only once, and the report can be among them.
  func endProcesses(_ messages: ArraySlice<DevMessage>) {
    for state in builds.values { state.run?.process.send(["stop": true]) }
    engine?.process.stop(drain: Self.lastDrain)
    for message in messages { finish(message) }
    let now = MonotonicClock.now
    let isStuck = engine?.watch?.stall(at: now, limit: Self.lastDrain) != nil
    let limit = isStuck ? now : now + Self.lastKillDelay
    var isKilled = false
    while engine != nil || builds.values.contains(where: { $0.run != nil }) {
      if !isKilled, MonotonicClock.now >= limit {
        isKilled = true
        engine?.process.kill(SIGKILL)
      }
      // A killed engine is certain to end. The session does not wait longer for a build: its ``BuildKeeper`` ends it.
      let messages = mailbox.take(until: isKilled ? limit + Self.lastKillDelay : limit)
      if messages.isEmpty, isKilled { return }
      for message in messages { finish(message) }
    }
  }

  private func finish(_ message: DevMessage) {
    switch message {
    case .engine(let number, .ended) where number == engine?.number:
      engine?.clients?.giveUp(Self.answer("engine_stopped", "sluice dev has ended"))
      engine = nil
    case .engine(let number, .document(let document)) where number == engine?.number:
      if document["event"]?.string == "request" { requestEnded(document) }
    case .build(let number, .ended):
      for (rule, state) in builds where state.run?.number == number { builds[rule]?.run = nil }
    default: break
    }
  }
}
