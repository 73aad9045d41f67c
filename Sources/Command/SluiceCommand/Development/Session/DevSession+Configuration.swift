import Sluice
import SluiceJSON

// The configuration file.
extension DevSession {
  /// Reads the configuration and watches the files that it names. If the configuration is invalid, reports that and
  /// keeps the previous configuration.
  @discardableResult
  func readConfiguration() -> Bool {
    do {
      configurationText = []
      configurationText = try Configuration.text(of: settings.configuration)
      adopt(try Configuration(text: configurationText, file: settings.configuration))
      return true
    } catch {
      refuseConfiguration("\(error.location): \(error.reason)", advice: error.advice)
      watchAll()
      return false
    }
  }

  private func adopt(_ new: Configuration) {
    configuration = new
    var states: [String: LibraryState] = [:]
    for library in new.libraries {
      var state = libraries[library] ?? LibraryState(plugins: [])
      state.plugins = new.plugins(of: library)
      states[library] = state
    }
    libraries = states
    watchAll()
    adoptBuilds(of: new)
  }

  private func watchAll() {
    let files = [settings.configuration] + (configuration?.libraries ?? [])
    let trees = configuration?.plugins.compactMap(\.build).flatMap(\.sources) ?? []
    let subjects = files.map { InotifyWatch.Subject.file($0) } + trees.map { .tree($0) }
    if let failure = watch.watch(Set(subjects)) { warn(failure) }
  }

  func warn(_ text: String) {
    say(
      DevEvent(.log, "warning: \(text)", tone: .doubtful).with("level", "warning").with("message", JSONValue(text)))
  }

  func refuseConfiguration(_ reason: String, advice: String?) {
    let text = reason + (advice.map { "; \($0)" } ?? "")
    say(
      DevEvent(
        .refused, "configuration refused\(engine == nil ? "" : ", the running configuration stays in use"): \(text)",
        tone: .bad
      )
      .with("subject", "configuration").with("reason", JSONValue(reason)).with("advice", advice.map { JSONValue($0) })
    )
  }

  func configurationChanged() {
    guard let text = try? FileContent.read(settings.configuration), text != configurationText || isReloadDue else {
      return
    }
    if engine != nil, engine?.isReady != true || engine?.command != nil {
      isReloadDue = true
      return
    }
    isReloadDue = false
    let before = configuration
    guard readConfiguration(), let configuration else { return }
    guard engine != nil, let before else { return startAnew() }
    let fixed = configuration.fixedDifferences(from: before)
    guard fixed.isEmpty else {
      return restart(because: "\(fixed.joined(separator: ", ")) cannot change while an engine runs")
    }
    // After a refused build, a reload is not enough: it would load the same build from its path, and the engine would
    // refuse the reload as well.
    guard !servesOldBuilds(configuration) else { return restart(because: "the configuration has changed") }
    do throws(CommandError) {
      let copy = try sources.write(configuration.text ?? [], as: "configuration.json")
      send(.reload, ["configuration": JSONValue(settings.configuration)], [settings.configuration: copy])
    } catch { warn(error.message) }
  }

  /// Whether an older build serves because the library at its path was refused.
  private func servesOldBuilds(_ configuration: Configuration) -> Bool {
    configuration.libraries.contains { library in
      guard let serving = good.serving[library], let refused = libraries[library]?.refused else { return false }
      return refused != serving.hash
    }
  }
}
