import Glibc
import SluiceForeign
import SluiceJSON
import SluiceMessages
import SluicePluginHost
import SluiceSupport

extension PlanFolder {
  /// How many plans stay besides the current one, for processes that are just reading them.
  private static let keptPlans = 2

  /// Writes a plan into the folder, and makes it the current one. Returns its number.
  ///
  /// The plan gets its name when all of it is written, and `current` leads to it by a rename, so no process sees a part of
  /// it.
  func publish(_ plan: ForeignPlan) throws(Fault) -> Int {
    let plans = "\(path)/\(Self.plansName)"
    for folder in [path, plans] {
      guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw Self.failure(folder) }
    }
    guard let lock = FileDescriptor(opening: "\(path)/.lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, mode: 0o600),
      flock(lock.raw, LOCK_EX) == 0
    else { throw Self.failure("\(path)/.lock") }
    let known = FolderListing.names(in: plans).compactMap { Int($0) }
    let number = (known.max() ?? 0) + 1
    let folder = "\(plans)/\(number)"
    let draft = "\(plans)/.new-\(getpid())"
    Self.remove(draft)
    guard mkdir(draft, 0o700) == 0 else { throw Self.failure(draft) }
    do throws(Fault) {
      for library in plan.staged { try Self.copy(library, into: draft) }
      let document = plan.document { "\(folder)/\(Self.name(of: $0))" }
      guard let text = try? document.serialized() else { throw Fault("the plan cannot be written as JSON") }
      try Self.write(text + [0x0A], to: "\(draft)/\(Self.planName)")
      guard rename(draft, folder) == 0 else { throw Self.failure(folder) }
    } catch {
      Self.remove(draft)
      throw error
    }
    try makeCurrent(number)
    for old in known.sorted().dropLast(Self.keptPlans) { Self.remove("\(plans)/\(old)") }
    return number
  }

  private func makeCurrent(_ number: Int) throws(Fault) {
    let link = "\(path)/\(Self.currentName)"
    let draft = "\(link).new-\(getpid())"
    unlink(draft)
    guard symlink("\(Self.plansName)/\(number)", draft) == 0, rename(draft, link) == 0 else {
      throw Self.failure(link)
    }
  }

  /// Makes the processes that use the folder write their status.
  func ask() {
    let file = "\(path)/\(Self.askName)"
    _ = FileDescriptor(opening: file, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode: 0o600)
    utimensat(AT_FDCWD, file, nil, 0)
  }

  private static func name(of library: StagedLibrary) -> String { "\(library.copy.hash.hex).so" }

  private static func copy(_ library: StagedLibrary, into folder: String) throws(Fault) {
    guard let file = FileDescriptor(opening: library.copy.path, O_RDONLY | O_CLOEXEC), let status = file.status(),
      let bytes = file.readAll(capacity: Int(status.st_size))
    else { throw failure(library.copy.path) }
    try write(bytes, to: "\(folder)/\(name(of: library))", mode: 0o500)
  }

  private static func write(_ bytes: [UInt8], to path: String, mode: mode_t = 0o600) throws(Fault) {
    guard let file = FileDescriptor(opening: path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode: mode),
      file.writeAll(bytes), file.closeAfterWriting()
    else { throw failure(path) }
  }

  private static func remove(_ folder: String) {
    for name in FolderListing.names(in: folder) { unlink("\(folder)/\(name)") }
    rmdir(folder)
  }

  private static func failure(_ path: String) -> Fault { Fault("\(PlainText.path(path)): \(SystemError.text())") }
}
