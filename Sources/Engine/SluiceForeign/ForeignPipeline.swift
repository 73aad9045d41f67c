package import SluiceAssembly
package import SluiceLoop
import SluiceMessages
package import SluicePipeline
package import SluicePluginHost
import SluiceSupport
import Synchronization

/// The pipeline of a foreign program: its lanes, and the instances of the plan that serves.
///
/// A child of fork() needs its own pipeline, because the threads and timers of the parent's pipeline do not exist there.
package final class ForeignPipeline: Sendable {
  private static let endLimit = Duration.seconds(1)

  package let lanes: [Lane]
  private let hosting: PluginHosting
  private let alarm: LaneAlarm
  private let next = Atomic<Int>(0)
  private let isClosed = Atomic<Bool>(false)
  private let snapshots: Locked<LiveSnapshots>
  /// The number of replaced snapshots whose parts are being ended.
  private let ending = Monitor(0)

  /// - Parameters:
  ///   - configuration: that of the first plan.
  ///   - host: what plugins get as the name of the program.
  ///   - isShared: whether requests come from several clients.
  ///   - callOuts: makes the transport of a lane for requests that plugins make themselves.
  package init(
    _ configuration: Configuration, lanes count: Int, host: String, features: HostFeatures, isShared: Bool = false,
    callOuts: (CallerLoop, ForeignTransport) -> (any Transport)?, log: @escaping @Sendable (LogLine) -> Void
  ) {
    let empty = Snapshot.empty(configuration, loops: count)
    snapshots = Locked(LiveSnapshots(published: empty))
    lanes = (0..<count).map { Lane(index: $0, pipeline: empty.pipeline, callOuts: callOuts) }
    alarm = LaneAlarm(lanes.map(\.loop))
    let runtime = HostRuntime(
      loops: lanes.map(\.environment), programName: host, programVersion: Product.version, features: features,
      isShared: isShared, trustsSchemas: true
    ) { log(LogLine($0)) }
    hosting = PluginHosting(runtime: runtime, log: log)
  }

  /// Returns a lane that no other thread uses, if there is one; otherwise any lane.
  package func freeLane() -> Lane {
    let turn = next.wrappingAdd(1, ordering: .relaxed).oldValue & Int.max
    for step in 0..<lanes.count {
      let lane = lanes[(turn + step) % lanes.count]
      if lane.loop.isFree { return lane }
    }
    return lanes[turn % lanes.count]
  }

  /// The snapshot for new transactions.
  package var published: Snapshot { snapshots.withLock { $0.published } }

  /// Makes the instances of a plan and publishes them; transactions that have begun keep the earlier instances.
  ///
  /// - Parameters:
  ///   - prepare: changes the configuration for this program.
  ///   - check: throws if the program cannot run the pipeline.
  package func take(
    _ plan: Plan, prepare: (inout Configuration) -> Void, check: (Pipeline) throws(EngineError) -> Void = { _ in }
  ) throws(EngineError) {
    let before = published
    var generations: [String: LoadedGeneration] = [:]
    for plugin in plan.configuration.plugins {
      guard let path = plugin.library, generations[path] == nil else { continue }
      do throws(PluginError) { generations[path] = try load(path, plan, before) } catch {
        throw .plugin(error.named(plugin.name), plugin.location)
      }
    }
    var configuration = plan.configuration
    configuration.transport.loops = lanes.count
    configuration.leaveWireToProgram()
    prepare(&configuration)
    let draft = hosting.draft(configuration, generations, following: before)
    let snapshot: Snapshot
    do {
      try draft.create()
      snapshot = try draft.snapshot(before.number + 1, loops: lanes.count)
      try check(snapshot.pipeline)
      try draft.load(savedStates(for: draft))
      try draft.activate()
    } catch {
      draft.undo()
      throw error
    }
    publish(snapshot, after: before)
  }

  private func load(_ path: String, _ plan: Plan, _ before: Snapshot) throws(PluginError) -> LoadedGeneration {
    guard let library = plan.libraries[path], let hash = ContentHash(hex: library.hash) else {
      throw PluginError(.notFound, .plugin(name: nil, path: path), "the plan of the command has no copy of it")
    }
    if let known = before.loaded[path], known.record.hash == hash { return known }
    try Self.checkRuntime(library, path)
    return try hosting.enter(
      Self.map(library, hash, path), of: path, for: plan.configuration.plugins(of: path))
  }

  /// The libraries that this process has mapped, by the path of the copy. A child of fork() has them too, even if their
  /// files are gone.
  private static let mapped = Locked<[String: LoadedLibrary]>([:])

  private static func map(
    _ library: Plan.Library, _ hash: ContentHash, _ path: String
  ) throws(PluginError) -> LoadedLibrary {
    if let known = mapped.withLock({ $0[library.copy] }) { return known }
    let copy = try StoredPlugin(borrowing: library.copy, hash: hash, as: path)
    var facts = LibraryFacts(machine: "", entry: .defined, language: .c, hash: hash, sizeBytes: 0)
    facts.buildID = library.buildID
    let loaded = try StagedLibrary(path: path, copy: copy, facts: facts).load()
    mapped.withLock { $0[library.copy] = loaded }
    return loaded
  }

  /// Fails if the library needs another shared Swift runtime than the program has. The plugin would get the program's
  /// runtime, because glibc uses the library that was loaded first under a name.
  private static func checkRuntime(_ library: Plan.Library, _ path: String) throws(PluginError) {
    guard let wanted = library.swiftBuildID, let found = LoadedLibrary.buildID(ofMapped: "libswiftCore.so"),
      wanted != found
    else { return }
    throw PluginError(
      .loadFailed, .plugin(name: nil, path: path),
      "it was linked with the Swift runtime with the build id \(wanted), but the program has \(found)",
      advice: "build it with --static-stdlib")
  }

  private func savedStates(for draft: SnapshotDraft) throws(EngineError) -> [String: SavedState] {
    var states: [String: SavedState] = [:]
    for handover in draft.handovers {
      do throws(PluginError) { states[handover.plugin.name] = try handover.old.saveStateHere() } catch {
        try draft.goOn(without: handover, error)
      }
    }
    return states
  }

  private func publish(_ snapshot: Snapshot, after before: Snapshot) {
    snapshots.withLock { $0.publish(snapshot) }
    let lanesLeft = LanesLeft(lanes.count)
    for (index, lane) in lanes.enumerated() {
      lane.loop.enter()
      lane.pipeline = snapshot.pipeline
      before.pipeline.leases[index].notifyWhenNone { [self] in if lanesLeft.isLast() { retire(before) } }
      lane.loop.leave()
    }
    snapshot.serve(after: before)
  }

  /// Ends the parts of a snapshot that no other snapshot has. Called after its last transaction.
  private func retire(_ snapshot: Snapshot) {
    let parts = snapshots.withLock { $0.release(snapshot) }
    guard !parts.isEmpty else { return }
    ending.update { $0 += 1 }
    // The parts are ended on another thread, because the instances wait for calls that may need a lane.
    let isStarted = SystemThread.start("sluice-end") { [ending] in
      for part in parts.reversed() { part.end(within: .seconds(5)) }
      ending.update { $0 -= 1 }
    }
    if !isStarted { ending.update { $0 -= 1 } }
  }

  /// Ends all parts. Call it when the process ends.
  package func close() {
    guard !isClosed.exchange(true, ordering: .relaxed) else { return }
    // A plan that a thread takes afterwards must not use the instances that end here.
    let snapshot = snapshots.withLock { snapshots in
      let ended = snapshots.published
      snapshots.publish(Snapshot.empty(ended.configuration, number: ended.number + 1, loops: lanes.count))
      return ended
    }
    for part in snapshot.parts.reversed() { part.end(within: Self.endLimit) }
    _ = ending.wait(upTo: Self.endLimit) { $0 == 0 ? () : nil }
    hosting.runtime.close(within: Self.endLimit)
    alarm.close()
  }
}

extension Configuration {
  /// Drops the settings that do not apply to the transfers of a program: the program itself decides about time limits,
  /// redirects and repetitions, and takes the bodies of responses.
  fileprivate mutating func leaveWireToProgram() {
    // This time is longer than the clock can count, so no timer is set.
    transport.timeout = .seconds(Int64.max)
    deadline = nil
    maximumAttempts = 1
    retry = RetryPolicy()
    redirects.maximum = 0
    extract = .raw
    payloadSchema = nil
  }
}

/// Counts the lanes that have transactions on a replaced snapshot.
private final class LanesLeft: Sendable {
  private let count: Atomic<Int>

  init(_ count: Int) { self.count = Atomic(count) }

  /// Called when a lane has no more transactions. Returns true for the last lane.
  func isLast() -> Bool { count.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 }
}
