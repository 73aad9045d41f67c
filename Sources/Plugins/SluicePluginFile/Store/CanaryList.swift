import Glibc
package import SluicePluginHost
import SluiceSupport

/// Canaries that are not decided, or that failed. So a process that starts after a crash can serve the builds from
/// before.
///
/// The list is stored in the store's folder `canaries`, which has one folder for each project, as the folder `refused`
/// has. There are two files for each new build: its record, and a copy of the build that it was to replace. The process
/// that runs the canary holds a lock (`flock`) of the record. So if a record says that its canary runs, and is not locked,
/// the process has ended without ending the canary. If the machine was started again since, that was no fault of the
/// build.
package struct CanaryList: Sendable {
  private let store: String
  private let folder: String

  /// - Parameter project: a path; see ``RefusalList/project(of:)``.
  package init(store: PluginStore, project: String) {
    self.store = store.path
    folder = "\(store.path)/canaries/\(RefusalList.folderName(of: project))"
  }

  /// What the list says about the file of a library.
  package struct Finding: Sendable, Hashable {
    package enum State: Sendable, Hashable {
      /// Its process ended without ending the canary.
      case crashed
      /// Another process runs the canary.
      case running
      /// Its engine ended before the canary was decided.
      case unfinished
      /// The canary failed.
      case refused
    }

    package var state: State
    /// The canary's last share of the new transactions, in percent.
    package var percent: Double
    /// The build that it was to replace.
    package var old: ContentHash
    /// A file with that build.
    package var copy: String
    /// The file of the record.
    package var record: String
  }

  /// Looks up the build at the path of a library. Returns nil if no canary of it is recorded.
  package func finding(of library: String, _ build: ContentHash) -> Finding? {
    let path = path(of: library, build)
    guard let file = FileDescriptor(opening: path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK),
      let status = file.status(), status.isRegularFile, status.st_uid == geteuid(),
      let bytes = file.readAll(capacity: CanaryRecord.Content.byteCount + 1), let content = CanaryRecord.Content(bytes)
    else { return nil }
    let isLocked = flock(file.raw, LOCK_SH | LOCK_NB) != 0
    let state: Finding.State =
      switch content.state {
      case .running: isLocked ? .running : content.isOfThisBoot ? .crashed : .unfinished
      case .unfinished: .unfinished
      case .refused: .refused
      }
    return Finding(
      state: state, percent: content.percent, old: content.old, copy: path + CanaryRecord.copySuffix, record: path)
  }

  /// Removes the record of a build, unless a process still runs the canary.
  package func remove(_ library: String, _ build: ContentHash) {
    if finding(of: library, build)?.state != .running { CanaryRecord.remove(path(of: library, build)) }
  }

  /// Removes the records of a library's other builds, whose canaries are over because its file has changed.
  ///
  /// - Returns: the builds whose process ended without ending the canary, and their last shares.
  package func removeOthers(of library: String, _ build: ContentHash) -> [(build: ContentHash, percent: Double)] {
    let prefix = Self.prefix(of: library)
    var crashed: [(build: ContentHash, percent: Double)] = []
    for name in FolderListing.names(in: folder) where name.hasPrefix(prefix) {
      guard let other = ContentHash(hex: String(name.dropFirst(prefix.count))), other != build,
        let finding = finding(of: library, other), finding.state != .running
      else { continue }
      if finding.state == .crashed { crashed.append((other, finding.percent)) }
      remove(library, other)
    }
    return crashed
  }

  /// Notes that a canary whose process has ended has failed.
  package func refuse(_ library: String, _ build: ContentHash) {
    guard let finding = finding(of: library, build), finding.state == .crashed,
      let file = FileDescriptor(opening: finding.record, O_WRONLY | O_NOFOLLOW)
    else { return }
    CanaryRecord.Content(state: .refused, percent: finding.percent, old: finding.old).write(to: file)
  }

  /// Records a canary before its first transaction.
  ///
  /// - Parameter copy: the private copy of the build that it is to replace.
  /// - Returns: nil if another process has recorded the same canary and still runs it.
  package func begin(
    _ library: String, _ build: ContentHash, percent: Double, replacing old: ContentHash, at copy: String
  ) throws(PluginError) -> CanaryRecord? {
    if finding(of: library, build)?.state == .running { return nil }
    mkdir(store + "/canaries", 0o700)
    mkdir(folder, 0o700)
    let content = CanaryRecord.Content(state: .running, percent: percent, old: old)
    return try CanaryRecord(of: library, build, at: path(of: library, build), content, copy, in: store)
  }

  private func path(of library: String, _ build: ContentHash) -> String {
    "\(folder)/\(Self.prefix(of: library))\(build.hex)"
  }

  private static func prefix(of library: String) -> String { RefusalList.folderName(of: library) + "-" }
}

/// The record of a canary that this process runs. The record is locked as long as this object exists.
package final class CanaryRecord: Sendable {
  /// What a record says. It has always the same length, so that one write replaces it.
  struct Content {
    enum State: String {
      case running, unfinished, refused
    }

    var state: State
    var percent: Double
    var old: ContentHash
    /// ``SystemBoot/id``
    var boot: String
  }

  static let copySuffix = ".so"

  private struct Entry: Sendable {
    var content: Content
    var isOver = false
  }

  /// The path of the library in the configuration.
  package let library: String
  /// The new build, and the build that it is to replace.
  package let (build, old): (ContentHash, ContentHash)
  private let path: String
  private let file: FileDescriptor
  private let entry: Locked<Entry>

  /// Creates the files under temporary names, and renames them when they are complete and locked.
  fileprivate init(
    of library: String, _ build: ContentHash, at path: String, _ content: Content, _ copy: String, in store: String
  ) throws(PluginError) {
    let temporary = "\(path).\(getpid())-\(String(UInt64.random(in: .min ... .max), radix: 16))"
    defer {
      // After the renames, these paths do not exist.
      unlink(temporary)
      unlink(temporary + Self.copySuffix)
    }
    guard let file = FileDescriptor(opening: temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600),
      flock(file.raw, LOCK_EX | LOCK_NB) == 0, file.writeAll(content.bytes),
      link(copy, temporary + Self.copySuffix) == 0,
      rename(temporary + Self.copySuffix, path + Self.copySuffix) == 0, rename(temporary, path) == 0
    else { throw StoreFolder.error(store, "the canary cannot be recorded, so it does not begin") }
    (self.library, self.build, old) = (library, build, content.old)
    self.path = path
    self.file = file
    entry = Locked(Entry(content: content))
  }

  deinit { end(.unfinished) }

  /// Notes the share of the next step. If this cannot be written, the record has the share of an earlier step.
  package func note(percent: Double) {
    entry.withLock { entry in
      guard !entry.isOver, entry.content.percent != percent else { return }
      entry.content.percent = percent
      entry.content.write(to: file)
    }
  }

  /// The end of a canary.
  package enum End: Sendable {
    /// Its builds serve, or other builds were published. The record is removed.
    case replaced
    case refused
    case unfinished
  }

  /// Only the first call has an effect.
  package func end(_ end: End) {
    entry.withLock { entry in
      guard !entry.isOver else { return }
      entry.isOver = true
      switch end {
      case .replaced: return Self.remove(path)
      case .refused: entry.content.state = .refused
      case .unfinished: entry.content.state = .unfinished
      }
      entry.content.write(to: file)
    }
  }

  fileprivate static func remove(_ path: String) {
    unlink(path)
    unlink(path + copySuffix)
  }
}

extension CanaryRecord.Content {
  private static let (stateCount, percentCount, bootCount) = (10, 8, 36)
  private static let thisBoot = SystemBoot.id ?? String(repeating: "-", count: bootCount)

  init(state: State, percent: Double, old: ContentHash) {
    self.init(state: state, percent: percent, old: old, boot: Self.thisBoot)
  }

  var isOfThisBoot: Bool { boot == Self.thisBoot }

  var bytes: [UInt8] {
    let percent = Self.pad(String("\(percent)".prefix(Self.percentCount)), Self.percentCount)
    return Array("\(old.hex) \(Self.pad(state.rawValue, Self.stateCount)) \(percent) \(boot)\n".utf8)
  }

  /// The length of ``bytes``.
  static var byteCount: Int { 64 + 1 + stateCount + 1 + percentCount + 1 + bootCount + 1 }

  fileprivate func write(to file: borrowing FileDescriptor) {
    let bytes = bytes
    var count = 0
    repeat { count = pwrite(file.raw, bytes, bytes.count, 0) } while count < 0 && errno == EINTR
  }

  /// Nil if this is no complete record.
  init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.byteCount, bytes.last == UInt8(ascii: "\n") else { return nil }
    let words = String(decoding: bytes.dropLast(), as: UTF8.self).split(separator: " ")
    guard words.count == 4, let old = ContentHash(hex: String(words[0])), let state = State(rawValue: String(words[1])),
      let percent = Double(words[2]), (0...100).contains(percent)
    else { return nil }
    self.init(state: state, percent: percent, old: old, boot: String(words[3]))
  }

  private static func pad(_ text: String, _ count: Int) -> String {
    text + String(repeating: " ", count: count - text.utf8.count)
  }
}
