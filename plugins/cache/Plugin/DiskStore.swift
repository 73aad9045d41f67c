import Glibc
import SluiceLocks
import SluicePlugin

/// The folder behind a thread of its own, which does in order what the event loops ask for.
///
///     idle ── open ──► running ── close ──► ending ── queue empty, or deadline ──► over
final class DiskStore: Sendable {
  private enum Job: Sendable {
    case load(String, CheckedContinuation<[Entry], Never>)
    case store(Entry, replacing: Entry?)
    case discard(Entry)
    case remove(String)
  }

  private struct State: Sendable {
    var waiting: [Job] = []
    /// Of the entries that wait to be written.
    var waitingBytes = 0
    var isRunning = false
    var isEnding = false
    var hasEnded = false
  }

  /// More than this is not kept waiting: a disk that slow is no gain.
  private static let maximumWaitingBytes = 32 << 20

  private let state = Monitor(State())
  private let folder: DiskFolder

  init(_ folder: DiskFolder) { self.folder = folder }

  /// Opens the folder and starts the thread. `complain` is called on it, at the first of a row of failures.
  func open(complain: @escaping @Sendable (String) -> Void) throws {
    var folder = folder
    try folder.open()
    let opened = folder
    state.withLock { $0.isRunning = true }
    do {
      try BackgroundThread { self.run(opened, complain) }.detach()
    } catch {
      state.withLock { $0.isRunning = false }
      throw error
    }
  }

  /// What is stored of a URL. Nothing where the thread does not run.
  func load(_ url: String) async -> [Entry] {
    await withCheckedContinuation { continuation in
      let isTaken = state.update { state in
        guard state.isRunning, !state.isEnding else { return false }
        state.waiting.append(.load(url, continuation))
        return true
      }
      if !isTaken { continuation.resume(returning: []) }
    }
  }

  /// Has the entry written. Where too much waits already, what the folder has of the URL is removed instead: it would be
  /// behind.
  func store(_ entry: Entry, replacing replaced: Entry?) {
    state.update { state in
      guard state.isRunning, !state.isEnding else { return }
      if state.waitingBytes + entry.byteCount > Self.maximumWaitingBytes {
        state.waiting.append(.remove(entry.url))
      } else {
        state.waitingBytes += entry.byteCount
        state.waiting.append(.store(entry, replacing: replaced))
      }
    }
  }

  func discard(_ entry: Entry) { submit(.discard(entry)) }

  func remove(_ url: String) { submit(.remove(url)) }

  private func submit(_ job: Job) {
    state.update { state in
      if state.isRunning, !state.isEnding { state.waiting.append(job) }
    }
  }

  /// Has the thread finish what waits, and end. One that does not get there in time ends by itself.
  func close(within deadline: Duration) {
    guard
      state.update({ state in
        state.isEnding = true
        return state.isRunning
      })
    else { return }
    _ = state.wait(upTo: deadline) { $0.hasEnded ? true : nil }
  }

  private func run(_ opened: DiskFolder, _ complain: @Sendable (String) -> Void) {
    var folder = opened
    var isFailing = false
    while let jobs = take() {
      for job in jobs {
        switch job {
        case .load(let url, let continuation): continuation.resume(returning: folder.load(url))
        case .discard(let entry): folder.discard(entry)
        case .remove(let url): folder.remove(url)
        case .store(let entry, let replaced):
          do {
            try folder.store(entry, replacing: replaced)
            isFailing = false
          } catch {
            // What is there would be behind what is in memory.
            folder.remove(entry.url)
            if !isFailing { complain("\(error); what is cached stays in memory") }
            isFailing = true
          }
        }
      }
    }
    state.update { $0.hasEnded = true }
  }

  /// Waits for work; nil at the end, when none is left.
  private func take() -> [Job]? {
    state.wait { state -> [Job]?? in
      if state.waiting.isEmpty { return state.isEnding ? .some(nil) : nil }
      defer {
        state.waiting = []
        state.waitingBytes = 0
      }
      return state.waiting
    }
  }
}
