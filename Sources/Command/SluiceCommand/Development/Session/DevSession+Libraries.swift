import Glibc
import Sluice
import SluiceControl
import SluiceJSON
import SluicePluginFile
import SluicePluginHost
import SluiceSupport

// Changed libraries, and their swaps.
extension DevSession {
  /// The delays after which a refused file is read again. Without this, a write through a memory mapping would stay
  /// unnoticed, because it causes no event.
  private static let readDelays: [Duration] = [.milliseconds(500), .seconds(1), .seconds(2), .seconds(4)]

  /// - Parameters:
  ///   - changed: the paths of libraries, each with the time of the first change.
  ///   - cause: decides whether unchanged content is reported.
  func librariesChanged(_ changed: [String: Duration], because cause: LibraryState.Cause = .file) {
    guard let running = engine else {
      // No engine runs. The change may remove the reason for that. A library that is being built is handled when its
      // build has ended.
      if changed.contains(where: { !isBeingBuilt($0.key) && isNew($0.key) }) { startAnew() }
      return
    }
    for (library, since) in changed {
      if libraries[library]?.waiting == nil { libraries[library]?.waiting = since }
      if let before = libraries[library]?.cause, before < cause { libraries[library]?.cause = cause }
    }
    guard running.isReady, running.command == nil else { return }
    var swap: [String: (hash: String?, since: Duration)] = [:]
    for (library, state) in libraries {
      guard let since = state.waiting, !isBeingBuilt(library) else { continue }
      libraries[library]?.waiting = nil
      libraries[library]?.cause = .session
      if let new = newContent(of: library, because: state.cause) { swap[library] = (new.hash, since) }
    }
    if !swap.isEmpty { ask(for: swap) }
  }

  /// Starts the engine with the current configuration, after a time in which nothing served.
  func startAnew() {
    crashes.clear()
    waitingReason = nil
    if configuration == nil { readConfiguration() }
    start(because: nil)
  }

  private func isNew(_ library: String) -> Bool {
    guard let image = try? LibraryImage(reading: library) else { return false }
    return image.hash.hex != libraries[library]?.started
  }

  private struct NewContent {
    /// Nil if the library cannot be read; the engine will retry for a while.
    let hash: String?
  }

  /// Reads the library; nil if its content serves or was refused.
  private func newContent(of library: String, because cause: LibraryState.Cause) -> NewContent? {
    let status = SystemPath.status(of: library)
    let image: LibraryImage
    do throws(PluginError) { image = try LibraryImage(reading: library) } catch {
      guard error.code == .changedWhileRead else {
        libraries[library]?.seen = status
        return NewContent(hash: nil)
      }
      let subject = InotifyWatch.Subject.file(library)
      debounce.note(subject, at: MonotonicClock.now, silence: subject.silence)
      return nil
    }
    let hash = image.hash.hex
    let isServing = hash == good.serving[library]?.hash
    guard isServing || hash == libraries[library]?.refused else {
      libraries[library]?.noteNewContent(status)
      libraries[library]?.candidate = (hash, image.bytes)
      return NewContent(hash: hash)
    }
    if libraries[library]?.noteKnownContent(status, because: cause) == true {
      sayUnchanged(library, hash, cause, isServing: isServing)
    }
    // A build that was refused before is tried again if it comes after another build.
    if isServing { libraries[library]?.refused = nil }
    return nil
  }

  /// Unchanged content is reported, because the user has built the plugin and would wonder why nothing happens.
  private func sayUnchanged(_ library: String, _ hash: String, _ cause: LibraryState.Cause, isServing: Bool) {
    let serving = good.serving[library]
    let words = serving.map { "\($0.version) generation \($0.generation) serves" }
    let text =
      isServing
      ? words.map { cause == .build ? "the same content: \($0)" : "" } ?? ""
      : ["the same build, which was refused before", words].compactMap(\.self).joined(separator: "; ")
    say(
      DevEvent(.unchanged, plugins: libraries[library]?.plugins ?? [], text, tone: isServing ? .quiet : .doubtful)
        .with("library", JSONValue(library)).with("hash", JSONValue(hash)).with("serving", serving?.document))
  }

  private func ask(for swap: [String: (hash: String?, since: Duration)]) {
    let plugins = swap.keys.flatMap { libraries[$0]?.plugins ?? [] }.sorted()
    say(DevEvent(.changed, plugins: plugins).with("libraries", .array(of: swap.keys.sorted())))
    // The engine gets the content that was read here: by now, the file can have another content.
    var copies: [String: String] = [:]
    for (library, value) in swap {
      libraries[library]?.changedAt = value.since
      guard let candidate = libraries[library]?.candidate, candidate.hash == value.hash else { continue }
      do throws(CommandError) {
        copies[library] = try sources.write(candidate.bytes, as: "\(candidate.hash).so")
      } catch { warn(error.message) }
    }
    // An author wants to see the new build in every request.
    send(.swap(swap), ["plugins": .array(of: plugins), "canary": false], copies)
  }

  /// Sends the engine a command. There is only one command at a time.
  /// - Parameter copies: the files that the engine reads in place of paths. They are removed when the command ends.
  func send(_ command: RunningEngine.Command, _ document: JSONValue, _ copies: [String: String]) {
    guard let client = engine?.client, let number = engine?.number else { return }
    document["sources"] = EngineOrder.document(of: copies)
    engine?.command = command
    engine?.files = Array(copies.values)
    Task.detached { [mailbox] in
      let result: Result<JSONValue, ControlError>
      do throws(ControlError) { result = .success(try await client.send("POST", "/v1/swap", document)) } catch {
        result = .failure(error)
      }
      mailbox.put(.answered(number, result))
    }
  }

  func commandWasAnswered(_ result: Result<JSONValue, ControlError>) {
    switch result {
    case .failure(let error): commandEnded(error)
    case .success(let report):
      let id = report["id"]?.integer
      if let id, engine?.reports.contains(id) != true { engine?.awaitedReport = id } else { commandEnded() }
    }
  }

  /// - Parameter failure: an error of the command, which can be one for which the engine sends no report.
  private func commandEnded(_ failure: ControlError? = nil) {
    let command = engine?.command
    engine?.command = nil
    engine?.awaitedReport = nil
    sources.clear(engine?.files ?? [])
    engine?.files = []
    if let failure { commandFailed(command, failure) }
    // Handles the changes that happened while the command ran.
    if isReloadDue { configurationChanged() }
    librariesChanged([:])
  }

  private func commandFailed(_ command: RunningEngine.Command?, _ error: ControlError) {
    switch (command, error.code) {
    case (.reload, .configuration): refuseConfiguration(error.message, advice: error.advice)
    case (.swap(let libraries), .noAnswer), (.swap(let libraries), .noEngine):
      engine?.unanswered.merge(libraries) { $1 }
    case (_, .noAnswer), (_, .noEngine): break
    case (.swap(let asked), .superseded), (.swap(let asked), .cancelled):
      // The session looks again, because another client has asked for something else.
      for (library, value) in asked { libraries[library]?.waiting = value.since }
    case (.swap(let libraries), _): swapFailed(libraries)
    default: break
    }
  }

  private func swapFailed(_ failed: [String: (hash: String?, since: Duration)]) {
    guard failed.count > 1 else {
      if let (library, value) = failed.first, let delay = Self.readDelays.first {
        if let hash = value.hash { libraries[library]?.refused = hash }
        after(delay, .readAgain(library: library, attempt: 0))
      }
      return
    }
    // A swap publishes all of its libraries or none. The libraries are now swapped one at a time, so that a bad build
    // does not hold back good builds.
    if let next = failed.min(by: { $0.key < $1.key }) {
      for (library, value) in failed where library != next.key { libraries[library]?.waiting = value.since }
      ask(for: [next.key: next.value])
    }
  }

  func readAgain(_ library: String, _ attempt: Int) {
    guard let state = libraries[library], engine?.isReady == true else { return }
    if let hash = (try? LibraryImage(reading: library))?.hash.hex, hash != state.refused,
      hash != good.serving[library]?.hash
    {
      return librariesChanged([library: MonotonicClock.now])
    }
    if attempt + 1 < Self.readDelays.count {
      after(Self.readDelays[attempt + 1], .readAgain(library: library, attempt: attempt + 1))
    }
  }

  // MARK: Reports

  /// Handles the end of a swap, a reload or a rollback, whichever client asked for it.
  func swapEnded(_ document: JSONValue) {
    guard let report = document["report"] else { return }
    let changes = report["changes"].map { Array($0.elements) } ?? []
    let plugins = changes.flatMap { $0["plugins"]?.texts ?? [] }
    for change in changes {
      guard let library = change["library"]?.string else { continue }
      engine?.unanswered[library] = nil
      guard let new = change["new"], let generation = new["generation"]?.integer, let hash = new["hash"]?.string else {
        continue
      }
      engine?.builds[generation] = (library, hash)
    }
    switch report["outcome"]?.string {
    case "published":
      adopt(document["builds"])
      noteSwappedIn(changes)
      say(published(report, changes, plugins))
      noteServing(changes, isReturn: report["trigger"]?.string == "rollback")
    case "rolled-back":
      adopt(document["builds"])
      noteServing(changes, isReturn: true)
      let reason = report["reason"]?.string ?? ""
      say(
        DevEvent(
          .rolledBack, plugins: plugins, "returned to snapshot \(report["snapshot"]?.integer ?? 0): \(reason)",
          tone: .bad
        ).with("report", report).with("reason", JSONValue(reason)))
    case "refused":
      // If there are several, the report does not say which of them is at fault.
      if changes.count == 1, let library = changes[0]["library"]?.string, let hash = changes[0]["new"]?["hash"]?.string
      {
        libraries[library]?.refused = hash
      }
      say(refused(report, plugins))
    case "unchanged":
      say(DevEvent(.unchanged, plugins: plugins, "unchanged: the same content", tone: .quiet).with("report", report))
    default: break
    }
    guard let id = report["id"]?.integer else { return }
    engine?.reports.insert(id)
    if engine?.awaitedReport == id { commandEnded() }
  }

  /// Looks at the file of each library that serves another build than the session has asked for. Such a build was read
  /// by somebody else, so the session does not know whether it is still at its path.
  /// - Parameter isReturn: whether older builds serve again, so that the builds at the paths must not.
  private func noteServing(_ changes: [JSONValue], isReturn: Bool) {
    for change in changes {
      guard let library = change["library"]?.string, let state = libraries[library] else { continue }
      libraries[library]?.refused = isReturn ? change["old"]?["hash"]?.string : nil
      guard !isReturn, engine?.asked[library]?.hash != change["new"]?["hash"]?.string else { continue }
      libraries[library]?.waiting = state.waiting ?? MonotonicClock.now
    }
    librariesChanged([:])
  }

  private func noteSwappedIn(_ changes: [JSONValue]) {
    var builds: [String: String] = [:]
    for change in changes {
      guard let library = change["library"]?.string, let hash = change["new"]?["hash"]?.string else { continue }
      builds[library] = hash
    }
    if !builds.isEmpty { engine?.swappedIn.append(builds) }
    crashes.clear()
  }

  private func published(_ report: JSONValue, _ changes: [JSONValue], _ plugins: [String]) -> DevEvent {
    let builds = changes.map { "\(Self.build($0["old"])) → \(Self.build($0["new"]))" }.joined(separator: "; ")
    let took = ReportText.duration(report["durationMs"])
    let what = builds.isEmpty ? took : "\(builds), \(took)"
    var event: DevEvent
    switch report["trigger"]?.string {
    case "reload": event = DevEvent(.reloaded, plugins: plugins, "configuration reloaded, \(what)", tone: .good)
    case "rollback": event = DevEvent(.rolledBack, plugins: plugins, "rolled back, \(what)", tone: .doubtful)
    default: event = DevEvent(.swapped, plugins: plugins, "swapped, \(what)", tone: .good)
    }
    event = event.with("report", report).with("snapshot", report["snapshot"])
    // The time of the change is stored with the library and not with the command, because the command may have ended
    // before the report of its swap arrives.
    let paths = changes.compactMap { $0["library"]?.string }
    if let since = paths.compactMap({ libraries[$0]?.changedAt }).min() {
      event = event.with("sinceChangeMs", .milliseconds(MonotonicClock.now - since))
    }
    for path in paths { libraries[path]?.changedAt = nil }
    return event
  }

  /// The version and generation of a build: `1.0.0 generation 3`.
  private static func build(_ build: JSONValue?) -> String {
    guard let build else { return "none" }
    let generation = build["generation"]?.integer.map { "generation \($0)" }
    return [build["version"]?.string, generation].compactMap(\.self).joined(separator: " ")
  }

  private func refused(_ report: JSONValue, _ plugins: [String]) -> DevEvent {
    let reason = report["reason"]?.string ?? ""
    let isReload = report["trigger"]?.string == "reload"
    return DevEvent(
      .refused, plugins: plugins, "refused, the running build stays in use: \(reason)", tone: .bad
    ).with("subject", isReload ? "configuration" : "plugins").with("reason", JSONValue(reason)).with("report", report)
  }
}
