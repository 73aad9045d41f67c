import Glibc
import Sluice
import SluiceAssembly
import SluiceJSON
import SluicePluginHost
import SluiceSupport

// Handles changes of sources, and runs the builds.
extension DevSession {
  /// Takes over the build rules of a configuration, and starts a build for each new rule.
  func adoptBuilds(of configuration: Configuration) {
    var states: [PluginBuildRule: BuildState] = [:]
    for plugin in configuration.plugins {
      guard let rule = plugin.build, let library = plugin.library else { continue }
      var state = states[rule] ?? builds[rule] ?? BuildState(rule: rule)
      if states[rule] == nil { (state.plugins, state.libraries) = ([], []) }
      state.plugins.append(plugin.name)
      state.libraries.insert(library)
      states[rule] = state
    }
    for (rule, state) in builds where states[rule] == nil { state.run?.process.send(["stop": true]) }
    builds = states
    for rule in states.keys { sourcesChanged(rule, since: nil) }
  }

  /// Starts a build unless the last build had the same sources all the time. A running build with older sources is
  /// stopped.
  /// - Parameter since: the time of the first change; nil if nothing has changed.
  func sourcesChanged(_ rule: PluginBuildRule, since: Duration?) {
    guard let state = builds[rule], let hash = state.currentSources else { return }
    guard hash != state.sources else {
      guard let since else { return }
      if state.run != nil {
        builds[rule]?.run?.isDoubtful = true
      } else if since < state.ended, builds[rule]?.mustRepeat() == true {
        build(rule)
      }
      return
    }
    builds[rule]?.adopt(hash)
    guard let run = state.run else { return build(rule) }
    builds[rule]?.run?.isStale = true
    run.process.send(["stop": true])
  }

  private func build(_ rule: PluginBuildRule) {
    guard let state = builds[rule] else { return }
    lastBuild += 1
    let number = lastBuild
    do throws(CommandError) {
      let words = BuildKeeper.arguments + state.words(program: "/proc/\(getpid())/exe")
      let process = try SupervisedProcess(words) { [mailbox] message in mailbox.put(.build(number, message)) }
      builds[rule]?.run = BuildState.Run(number: number, process: process, began: MonotonicClock.now)
      say(DevEvent(.building, plugins: state.plugins, "building", tone: .quiet))
    } catch {
      say(DevEvent(.buildFailed, plugins: state.plugins, error.message, tone: .bad).with("diagnostics", .array()))
    }
    showStatus()
  }

  func handleBuild(_ number: Int, _ message: SupervisedProcess.Message) {
    guard let rule = builds.first(where: { $0.value.run?.number == number })?.key else { return }
    switch message {
    case .document: break
    case .written(let line): builds[rule]?.run?.add(line)
    case .ended(let status): buildEnded(rule, status)
    }
  }

  private func buildEnded(_ rule: PluginBuildRule, _ status: WaitStatus) {
    guard let state = builds[rule], let run = state.run else { return }
    builds[rule]?.run = nil
    builds[rule]?.ended = MonotonicClock.now
    if run.isStale || (run.isDoubtful && builds[rule]?.mustRepeat() == true) { return build(rule) }
    showStatus()
    let isGood = status == .exited(0)
    let isFirst = state.ended == .zero
    builds[rule]?.isReported = true
    let event = outcome(state, run, isGood: isGood)
    say(event)
    if engine == nil {
      // No engine runs. If the build succeeded, the engine starts with the new library. Otherwise it starts with the
      // existing builds, unless the session has given up on them.
      if isGood, isFirst, let waitingReason { knownReason = waitingReason }
      if isGood { startAnew() } else if waitingReason == nil { start(because: nil) }
    } else {
      let now = MonotonicClock.now
      // Nobody waits for the result of the first build, because the engine has started without it.
      let isAwaited = isGood && !isFirst && !state.isReported
      librariesChanged(
        Dictionary(uniqueKeysWithValues: state.libraries.map { ($0, now) }), because: isAwaited ? .build : .file)
    }
  }

  private func outcome(_ state: BuildState, _ run: BuildState.Run, isGood: Bool) -> DevEvent {
    let diagnostics = run.reader.diagnostics
    let took = MonotonicClock.now - run.began
    let time = Figures.time(nanoseconds: UInt64(max(0, took / .nanoseconds(1))))
    let shown = diagnostics.filter { isGood ? $0.severity != .note : $0.severity != .warning }
    let count = diagnostics.filter { $0.severity == (isGood ? .warning : .error) }.count
    let word = isGood ? "warning" : "error"
    let counted = count == 0 ? "" : ", \(count) \(word)\(count == 1 ? "" : "s")"
    let because = run.way?.reason.map { "; the package: \(PrintableText.of($0))" } ?? ""
    let previous = engine?.client == nil ? "" : "; the previous build keeps running"
    let text = isGood ? "built, \(time)\(counted)\(because)" : "build failed, \(time)\(counted)\(previous)"
    var event = DevEvent(isGood ? .built : .buildFailed, plugins: state.plugins, text, tone: isGood ? .plain : .bad)
      .with("durationMs", .milliseconds(took))
      .with("diagnostics", .array(of: diagnostics.map(\.document)))
    if let way = run.way {
      event = event.with("way", JSONValue(way.name)).with("reason", way.reason.map { JSONValue($0) })
    }
    event.details = shown.prefix(Self.shownDiagnostics).flatMap { $0.lines(output.terminal) }
    if !isGood {
      event = event.with("output", .array(of: run.reader.tail))
      if shown.isEmpty { event.details = run.reader.tail.map { PrintableText.of($0) } }
    }
    return event
  }

  private static let shownDiagnostics = 10

  /// Whether a running build is about to replace the library.
  func isBeingBuilt(_ library: String) -> Bool {
    builds.values.contains { $0.run != nil && $0.libraries.contains(library) }
  }

  private func showStatus() {
    let names = builds.values.filter { $0.run != nil }.flatMap(\.plugins).sorted()
    output.show(status: names.isEmpty ? "" : "building \(names.joined(separator: ", ")) …")
  }
}
