import Sluice
import SluiceControl
import SluiceJSON
import SluicePluginFile
import SluicePluginHost
import SluicePluginImage
import SluiceSupport

// Changed libraries, and their swaps.
extension DevSession {
  /// The delays after which a refused file is read again. Without this, a write through a memory mapping would stay
  /// unnoticed, because it causes no event.
  private static let looks: [Duration] = [.milliseconds(500), .seconds(1), .seconds(2), .seconds(4)]

  /// - Parameters:
  ///   - changed: the paths of libraries, each with the time of the first change.
  ///   - isAsked: whether somebody changed the files; if false, unchanged content is not reported.
  func librariesChanged(_ changed: [String: Duration], isAsked: Bool = true) {
    guard let running = engine else {
      // No engine runs. The change may remove the reason for that. A library that is being built is handled when its
      // build has ended.
      if changed.contains(where: { !isBeingBuilt($0.key) && isNew($0.key) }) { startAnew() }
      return
    }
    for (library, since) in changed where libraries[library]?.waiting == nil { libraries[library]?.waiting = since }
    guard running.isReady, running.command == nil else { return }
    var swap: [String: (hash: String?, since: Duration)] = [:]
    for (library, state) in libraries {
      guard let since = state.waiting, !isBeingBuilt(library) else { continue }
      libraries[library]?.waiting = nil
      if let look = look(at: library, isAsked: isAsked) { swap[library] = (look.hash, since) }
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
    defer { libraries[library]?.handled = image.hash.hex }
    return image.hash.hex != libraries[library]?.handled
  }

  private struct Look {
    /// Nil if the library cannot be read; the engine will retry for a while.
    let hash: String?
  }

  /// Reads the library; nil if its content was already handled.
  private func look(at library: String, isAsked: Bool) -> Look? {
    let image: LibraryImage
    do throws(PluginError) { image = try LibraryImage(reading: library) } catch {
      guard error.code == .changedWhileRead else { return Look(hash: nil) }
      // The file changed before it was first read. The serving build counts as handled. If the new content is the same,
      // it is therefore reported as unchanged.
      if libraries[library]?.handled == nil { libraries[library]?.handled = good.serving[library]?.hash }
      let subject = InotifyWatch.Subject.file(library)
      debounce.note(subject, at: MonotonicClock.now, silence: subject.silence)
      return nil
    }
    let hash = image.hash.hex
    let serving = good.serving[library]
    if hash == serving?.hash || hash == libraries[library]?.handled {
      // If this hash is neither the serving build nor the refused build, the build is being swapped in. A report about
      // it will follow.
      let isRefused = hash == libraries[library]?.refused && hash != serving?.hash
      let isKnown = hash == serving?.hash || isRefused
      if isAsked, isKnown, libraries[library]?.handled == hash, libraries[library]?.saidUnchanged == false {
        libraries[library]?.saidUnchanged = true
        // Unchanged content is reported, because the user has built the plugin and would wonder why nothing happens.
        let text = isRefused ? "the same build, which was refused before" : ""
        say(
          DevEvent(.unchanged, plugins: libraries[library]?.plugins ?? [], text, tone: .doubtful)
            .with("library", JSONValue(library)).with("hash", JSONValue(hash)))
      }
      libraries[library]?.handled = hash
      return nil
    }
    libraries[library]?.handled = hash
    libraries[library]?.saidUnchanged = false
    libraries[library]?.candidate = (hash, image.bytes)
    return Look(hash: hash)
  }

  private func ask(for swap: [String: (hash: String?, since: Duration)]) {
    let plugins = swap.keys.flatMap { libraries[$0]?.plugins ?? [] }.sorted()
    say(DevEvent(.changed, plugins: plugins).with("libraries", .array(of: swap.keys.sorted())))
    for (library, value) in swap { libraries[library]?.changedAt = value.since }
    send(.swap(swap), ["plugins": .array(of: plugins)])
  }

  /// Sends the engine a command. There is only one command at a time.
  func send(_ command: RunningEngine.Command, _ document: JSONValue) {
    guard let client = engine?.client, let number = engine?.number else { return }
    engine?.command = command
    Task.detached { [mailbox] in
      let result: Result<JSONValue, ControlError>
      do throws(ControlError) { result = .success(try await client.send("POST", "/v1/swap", document)) } catch {
        result = .failure(error)
      }
      mailbox.put(.answered(number, result))
    }
  }

  /// Handles failures for which the engine sends no report. The result of a successful command is shown when its report
  /// arrives.
  func commandEnded(_ result: Result<JSONValue, ControlError>) {
    let command = engine?.command
    engine?.command = nil
    if case .failure(let error) = result {
      switch (command, error.code) {
      case (.reload, .configuration): refuseConfiguration(error.message, advice: error.advice)
      case (.swap(let libraries), .noAnswer), (.swap(let libraries), .noEngine):
        engine?.unanswered.merge(libraries) { $1 }
      case (_, .noAnswer), (_, .noEngine): break
      case (.swap(let libraries), _): swapFailed(libraries)
      default: break
      }
    }
    // Handles the changes that happened while the command ran.
    if isReloadDue { configurationChanged() }
    librariesChanged([:])
  }

  private func swapFailed(_ failed: [String: (hash: String?, since: Duration)]) {
    guard failed.count > 1 else {
      if let library = failed.keys.first, let delay = Self.looks.first {
        after(delay, .lookAgain(library: library, attempt: 0))
      }
      return
    }
    // A swap publishes all of its libraries or none. The libraries are now swapped one at a time, so that a bad build
    // does not hold back good builds.
    for library in failed.keys { libraries[library]?.handled = nil }
    if let next = failed.min(by: { $0.key < $1.key }) {
      for (library, value) in failed where library != next.key { libraries[library]?.waiting = value.since }
      libraries[next.key]?.handled = next.value.hash
      ask(for: [next.key: next.value])
    }
  }

  func lookAgain(_ library: String, _ attempt: Int) {
    guard let state = libraries[library], engine?.isReady == true else { return }
    if let image = try? LibraryImage(reading: library), image.hash.hex != state.handled {
      return librariesChanged([library: MonotonicClock.now])
    }
    if attempt + 1 < Self.looks.count {
      after(Self.looks[attempt + 1], .lookAgain(library: library, attempt: attempt + 1))
    }
  }

  // MARK: Reports

  /// Handles the end of a swap, a reload or a rollback, whichever client asked for it.
  func swapEnded(_ document: JSONValue) {
    guard let report = document["report"] else { return }
    let changes = report["changes"].map { Array($0.elements) } ?? []
    let plugins = changes.flatMap { $0["plugins"]?.texts ?? [] }
    for change in changes { engine?.unanswered[change["library"]?.string ?? ""] = nil }
    switch report["outcome"]?.string {
    case "published":
      adopt(document["builds"])
      noteSwappedIn(changes)
      say(published(report, changes, plugins))
    case "rolled-back":
      adopt(document["builds"])
      let reason = report["reason"]?.string ?? ""
      say(
        DevEvent(
          .rolledBack, plugins: plugins, "returned to snapshot \(report["snapshot"]?.integer ?? 0): \(reason)",
          tone: .bad
        ).with("report", report).with("reason", JSONValue(reason)))
    case "refused":
      for change in changes {
        if let library = change["library"]?.string { libraries[library]?.refused = change["new"]?["hash"]?.string }
      }
      say(refused(report, plugins))
    case "unchanged":
      say(DevEvent(.unchanged, plugins: plugins, "unchanged: the same content", tone: .quiet).with("report", report))
    default: break
    }
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
