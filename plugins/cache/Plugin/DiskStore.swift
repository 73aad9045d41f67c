import SluicePlugin
import SluiceSupport

/// Gives access to the folder through a queue of jobs, which a thread of the host performs in order. While the queue is
/// empty, there is no thread.
///
///     idle ── job ──► requested ── the thread begins ──► running ── queue empty ──► idle
///                         └───────── close ── waits while it runs ──► the rest is done here
final class DiskStore: Sendable {
  private enum Job: Sendable {
    case load(String, CheckedContinuation<[Entry], Never>)
    case store(Entry, replacing: Entry?)
    case discard(Entry)
    case remove(String)

    var isLoad: Bool {
      if case .load = self { true } else { false }
    }
  }

  private enum Phase: Sendable {
    case idle
    /// A thread was requested.
    case requested
    /// A thread uses the folder.
    case running
  }

  private struct State: Sendable {
    var waiting: [Job] = []
    /// The bytes of the entries that wait to be written.
    var waitingBytes = 0
    var phase = Phase.idle
    var isOpen = false
    /// Nil before the folder is opened, and while a thread uses it.
    var folder: DiskFolder?
    var isFailing = false
  }

  /// The limit of bytes that wait to be written. If the disk is so slow that the limit is reached, entries are not
  /// written.
  private static let maximumWaitingBytes = 32 << 20

  private let state: Monitor<State>
  private let folder: DiskFolder
  private let host: PluginHost

  init(_ folder: DiskFolder, _ host: PluginHost) {
    self.folder = folder
    self.host = host
    state = Monitor(State())
  }

  /// Opens the folder.
  func open() throws {
    var folder = folder
    try folder.open()
    let opened = folder
    state.withLock { state in
      state.folder = opened
      state.isOpen = true
    }
  }

  /// The entries of a URL; empty if the folder is not open.
  func load(_ url: String) async -> [Entry] {
    await withCheckedContinuation { continuation in
      if !submit({ $0.waiting.append(.load(url, continuation)) }) { continuation.resume(returning: []) }
    }
  }

  /// Queues the entry for writing. If too many bytes are waiting already, the files of the URL are removed instead,
  /// because they would be out of date.
  func store(_ entry: Entry, replacing replaced: Entry?) {
    submit { state in
      if state.waitingBytes + entry.byteCount > Self.maximumWaitingBytes {
        state.waiting.append(.remove(entry.url))
      } else {
        state.waitingBytes += entry.byteCount
        state.waiting.append(.store(entry, replacing: replaced))
      }
    }
  }

  func discard(_ entry: Entry) { submit { $0.waiting.append(.discard(entry)) } }

  func remove(_ url: String) { submit { $0.waiting.append(.remove(url)) } }

  /// Adds a job, and asks for a thread unless there is one. False if the folder is not open.
  @discardableResult
  private func submit(_ add: (inout State) -> Void) -> Bool {
    let isFirst = state.update { state -> Bool? in
      guard state.isOpen else { return nil }
      add(&state)
      guard state.phase == .idle else { return false }
      state.phase = .requested
      return true
    }
    if isFirst == true { request() }
    return isFirst != nil
  }

  private func request() {
    host.task { [self] in
      do {
        try await host.work { self.empty() }
      } catch {
        // There are two reasons: the plugin is ending, and `close` performs the remaining jobs; or the host has no free
        // thread, and the next job asks for a thread again.
        giveUp()
      }
    }
  }

  /// Ends the look-ups that wait, because no transaction may wait for a folder that no thread reads.
  private func giveUp() {
    let jobs = state.update { state -> [Job] in
      guard state.phase == .requested else { return [] }
      state.phase = .idle
      let waiting = state.waiting
      state.waiting.removeAll(where: \.isLoad)
      return waiting
    }
    for case .load(_, let continuation) in jobs { continuation.resume(returning: []) }
  }

  /// Performs the jobs. Runs on a thread of the host.
  private func empty() {
    let folder = state.update { state -> DiskFolder? in
      guard state.isOpen else { return nil }
      state.phase = .running
      return state.folder.take()
    }
    guard var folder else { return }
    while let jobs = take(&folder) { perform(jobs, in: &folder) }
  }

  /// Takes the waiting jobs. Without jobs, returns nil, and the thread no longer uses the folder.
  private func take(_ folder: inout DiskFolder) -> [Job]? {
    let current = folder
    return state.update { state in
      guard !state.waiting.isEmpty else {
        state.phase = .idle
        state.folder = current
        return nil
      }
      defer {
        state.waiting = []
        state.waitingBytes = 0
      }
      return state.waiting
    }
  }

  private func perform(_ jobs: [Job], in folder: inout DiskFolder) {
    for job in jobs {
      switch job {
      case .load(let url, let continuation): continuation.resume(returning: folder.load(url))
      case .discard(let entry): folder.discard(entry)
      case .remove(let url): folder.remove(url)
      case .store(let entry, let replaced): store(entry, replacing: replaced, in: &folder)
      }
    }
  }

  private func store(_ entry: Entry, replacing replaced: Entry?, in folder: inout DiskFolder) {
    do {
      try folder.store(entry, replacing: replaced)
      state.withLock { $0.isFailing = false }
    } catch {
      // The entry in memory is now newer than any file of the URL, so the files must not be used any more.
      folder.remove(entry.url)
      let wasFailing = state.update { state in
        defer { state.isFailing = true }
        return state.isFailing
      }
      if !wasFailing { host.log(.warning, "\(error); responses are now cached only in memory") }
    }
  }

  /// Performs the waiting jobs, and ends. If a thread is still using the folder at the deadline, this function does not
  /// wait longer; the thread ends by itself.
  func close(within deadline: Duration) {
    state.update { $0.isOpen = false }
    let left = state.wait(upTo: deadline) { state -> DiskFolder?? in
      state.phase == .running ? nil : .some(state.folder.take())
    }
    guard case .some(.some(var folder)) = left else { return }
    while let jobs = take(&folder) { perform(jobs, in: &folder) }
  }
}
