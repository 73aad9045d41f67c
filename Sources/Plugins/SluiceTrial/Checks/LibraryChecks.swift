import CSluice
import Glibc
import SluicePluginFile
import SluicePluginHost
import SluiceSupport

// Checks of a library's file and of its entry point.
extension ConformanceCheck {
  static let librarySide = [
    ConformanceCheck("swap-hazards", "The library has nothing that prevents a later hot swap") { run in
      let facts = try LibraryFacts(of: LibraryImage(reading: run.request.path))
      guard facts.warnings.isEmpty else { throw TrialFailure(facts.warnings.joined(separator: "; ")) }
    },
    ConformanceCheck("exports-only-entry", "The library exports its entry point and nothing else") { run in
      let facts = try LibraryFacts(of: LibraryImage(reading: run.request.path))
      guard !facts.strayExports.isEmpty else { return }
      let shown = facts.strayExports.prefix(5).joined(separator: ", ")
      throw TrialFailure(
        "it exports \(facts.strayExports.count) more: \(shown)\(facts.strayExports.count > 5 ? " …" : ""); "
          + "make them static, or compile with -fvisibility=hidden")
    },
    // A library that mixes two runtimes, or has its own copy of jansson, is refused before any check.
    ConformanceCheck("swift-runtime", "Its Swift code starts no threads of Swift's runtime") { run in
      let facts = try LibraryFacts(of: LibraryImage(reading: run.request.path))
      guard facts.swiftRuntime != nil else { throw TrialFailure.absent("it has no Swift code") }
      guard let starter = facts.threadStarter else { return }
      throw TrialFailure(
        "it uses \(starter), which starts threads in the program that it runs in; use sleep(for:) and task of PluginHost, "
          + "or a BackgroundThread")
    },
    ConformanceCheck("load-is-quiet", "Loading the library starts no thread and opens no file") { run in
      let before = try ProcessState.first()
      _ = try TrialLibrary.load(run.request, run.channel)
      // The mapped private copy is allowed to stay open.
      if let added = ProcessState.settled(since: before, besides: run.request.library) {
        throw TrialFailure("loading it left \(added)")
      }
    },
    ConformanceCheck("signal-handlers", "Loading, working and ending change no signal handler") { run in
      let before = SignalHandlers()
      try run.withActiveInstance { host, instance in
        _ = host.run(TrafficGenerator.plainRequest, through: host.pipeline(instance))
      }
      let changed = SignalHandlers().changed(since: before)
      guard changed.isEmpty else { throw TrialFailure("it changed the handlers of \(changed.joined(separator: ", "))") }
    },
    ConformanceCheck(
      "process-state",
      "No call changes the current folder, umask, locale, descriptors, signal mask or rounding of the program"
    ) { run in
      let changes = ProcessChanges()
      let answer = TrafficGenerator.random(run.request.seed)
      try run.withActiveInstance(answer: answer, prepare: { $0.guardDescriptors(run.channel) }) { host, instance in
        var generator = TrafficGenerator(run.random)
        for _ in 0..<50 { _ = host.run(generator.request(), through: host.pipeline(instance)) }
      }
      guard let change = changes.sentences.first else { return }
      throw TrialFailure(change)
    },
    ConformanceCheck("note-matches-entry", "The note in the file agrees with the table") { run in
      let host = try run.host()
      let library = try run.library(host)
      guard let note = library.generation.facts?.note else { throw TrialFailure("the file has no note") }
      if let version = note.version, version != library.generation.version {
        throw TrialFailure("the note says version \(version), the table \(library.generation.version)")
      }
      guard note.abi.contains(library.generation.table.abi) else {
        throw TrialFailure("the table is for ABI \(library.generation.table.abi), which the note leaves out")
      }
    },
    ConformanceCheck("entry-pure", "The entry point returns one table to all calls and hosts, and starts nothing") {
      run in
      let (first, second) = (try run.host(), try run.host())
      let loaded = try TrialLibrary.load(run.request, run.channel)
      run.channel.step("in its entry point")
      let before = try ProcessState.first()
      let generations = try [first, second, first].map { try HostTable.enter(loaded, for: $0.runtime) }
      for generation in generations.dropFirst() {
        guard generation.describes(the: generations[0]) else {
          throw TrialFailure("a second call of the entry point returns a table that differs from the first")
        }
      }
      if let added = ProcessState.settled(since: before) { throw TrialFailure("calling it left \(added)") }
    },
    ConformanceCheck(
      "extensions", "Each table has its full length and is the same for each request, and unknown tables are absent"
    ) {
      run in
      let generation = try run.library(run.host()).generation
      _ = try (
        generation.interceptor(), generation.body(), generation.tracer(), generation.state(),
        generation.notifications(), generation.selfTests(), generation.stage()
      )
      for id in [
        SLUICE_INTERCEPTOR_ID, SLUICE_BODY_ID, SLUICE_TRACER_ID, SLUICE_STATE_ID, SLUICE_NOTIFICATIONS_ID,
        SLUICE_STAGE_ID,
      ] {
        let (first, second) = (
          id.withCString { generation.table.extension($0) }, id.withCString { generation.table.extension($0) }
        )
        guard first == second else { throw TrialFailure("it returns another table for \"\(id)\" each time") }
      }
      for id in ["sluice.no-such-table/1", "", "sluice.interceptor/2", "sluice.interceptor"] {
        guard id.withCString({ generation.table.extension($0) }) == nil else {
          throw TrialFailure("it returns a table for \"\(id)\", which does not exist")
        }
      }
    },
  ]
}

extension PluginGeneration {
  fileprivate func describes(the other: PluginGeneration) -> Bool {
    id == other.id && version == other.version && summary == other.summary
      && configurationSchema == other.configurationSchema && table.abi == other.table.abi
  }
}

/// The handlers of all signals.
private struct SignalHandlers {
  private var handlers: [Int32: UInt] = [:]

  init() {
    for number: Int32 in 1..<32 {
      var action = sigaction()
      guard sigaction(number, nil, &action) == 0 else { continue }
      handlers[number] = unsafeBitCast(action.__sigaction_handler.sa_handler, to: UInt.self)
    }
  }

  func changed(since earlier: SignalHandlers) -> [String] {
    handlers.keys.sorted().filter { handlers[$0] != earlier.handlers[$0] }.map(SignalName.of)
  }
}
