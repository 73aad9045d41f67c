import CAttachABI
import CLinux
import Glibc
import SluiceSupport

/// The folder of one `sluice attach`: the page that it shares with the programs under it, the plans, and the reports of
/// the programs. Only this user can read or change it.
///
/// Unchecked: the first plan is published before the thread starts that publishes all later plans.
final class AttachFolder: @unchecked Sendable {
  let path: String
  /// The page file. It is not mapped: if a program truncated it, an access to the mapping would end the command.
  private let page: FileDescriptor
  /// Kept open because it holds a lock; nil if it could not be created. Without a mark, the folder stays if this
  /// command is killed.
  private let mark: FileDescriptor?
  private var planCount: UInt64 = 0

  private static let pageBytes = 4096

  /// - Parameter libraries: the file of the host library must not change after this call, because programs compare it
  ///   with the page.
  init(_ libraries: AttachLibraries) throws(CommandError) {
    path = try Self.make()
    var content = sluice_attach_page()
    content.abi = SLUICE_ATTACH_ABI
    withUnsafeMutableBytes(of: &content.magic) { $0.copyBytes(from: SLUICE_ATTACH_PAGE_MAGIC.utf8) }
    content.host = try Self.identity(of: libraries.host)
    page = try Self.makePage(in: path, content)
    mark = AttachMark(library: libraries.preload)?.write(in: path)
  }

  private static let prefix = "sluice-attach-"

  /// Whether a name has the form of such a folder's name.
  static func isName(_ name: String) -> Bool { name.hasPrefix(prefix) && name.utf8.count == prefix.utf8.count + 6 }

  /// Where such folders can be: in the user's own folder for runtime files, or in the folder for all users.
  private static var bases: [String] {
    let own = getenv("XDG_RUNTIME_DIR").map { String(cString: $0) } ?? ""
    return [own, "/tmp"].filter { $0.hasPrefix("/") }
  }

  private static func make() throws(CommandError) -> String {
    for base in bases {
      if let path = Paths.makeFolder("\(base)/\(prefix)") { return path }
    }
    throw CommandError(.failed, "attach: cannot make a folder in /tmp: \(SystemError.text())")
  }

  /// Removes the folders that killed commands have left.
  static func removeAbandoned() {
    for base in bases { AbandonedFolders(base: base).remove() }
  }

  private static func makePage(
    in folder: String, _ content: sluice_attach_page
  ) throws(CommandError) -> FileDescriptor {
    let name = "\(folder)/\(SLUICE_ATTACH_PAGE_NAME)"
    guard let file = FileDescriptor(opening: name, O_RDWR | O_CREAT | O_EXCL, mode: 0o600), let status = file.status(),
      write(content, of: status, to: file), ftruncate(file.raw, pageBytes) == 0
    else { throw CommandError(.failed, "attach: cannot make \(name): \(SystemError.text())") }
    return file
  }

  private static func write(
    _ content: sluice_attach_page, of status: stat, to file: borrowing FileDescriptor
  ) -> Bool {
    var content = content
    (content.device, content.inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
    return file.writeAll(withUnsafeBytes(of: content) { [UInt8]($0) })
  }

  /// A descriptor of the page that programs inherit; -1 if it could not be created.
  func pageForPrograms() -> Int32 { fcntl(page.raw, F_DUPFD, 3) }

  private static func identity(of host: String) throws(CommandError) -> sluice_attach_file {
    var status = stat()
    guard stat(host, &status) == 0 else {
      throw CommandError(.failed, "attach: \(host) cannot be examined: \(SystemError.text())")
    }
    return sluice_attach_file(
      device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: UInt64(status.st_size),
      mtime_seconds: Int64(status.st_mtim.tv_sec), ctime_seconds: Int64(status.st_ctim.tv_sec),
      mtime_nanoseconds: UInt32(status.st_mtim.tv_nsec), ctime_nanoseconds: UInt32(status.st_ctim.tv_nsec))
  }

  /// Writes a plan and makes it the newest. Programs take it with their next transfer.
  ///
  /// - Returns: for the first plan, the descriptor that programs inherit. For later plans, or if no descriptor could be
  ///   created, -1; programs then read the file.
  @discardableResult
  func publish(_ plan: [UInt8]) throws(CommandError) -> Int32 {
    planCount += 1
    let bytes = Array("\(SLUICE_ATTACH_PLAN_MAGIC)\(planCount)\n".utf8) + plan
    let name = "\(path)/\(SLUICE_ATTACH_PLAN_PREFIX)\(planCount)"
    guard let file = FileDescriptor(opening: name, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600), file.writeAll(bytes)
    else {
      throw CommandError(.failed, "attach: cannot write \(name): \(SystemError.text())")
    }
    let sealed =
      planCount == 1 ? bytes.withUnsafeBytes { sluice_open_sealed("sluice-plan", $0.baseAddress, $0.count, true) } : -1
    // A write of eight aligned bytes: programs see either the old number or the new number.
    var number = planCount
    let place = off_t(MemoryLayout<sluice_attach_page>.offset(of: \.sequence) ?? 0)
    guard pwrite(page.raw, &number, 8, place) == 8 else {
      throw CommandError(.failed, "attach: cannot write the page in \(path): \(SystemError.text())")
    }
    return sealed
  }

  /// The total of a counter of the programs.
  func count(_ which: sluice_attach_count) -> Int {
    var number: UInt64 = 0
    let place = (MemoryLayout<sluice_attach_page>.offset(of: \.counts) ?? 0) + 8 * Int(which.rawValue)
    return pread(page.raw, &number, 8, off_t(place)) == 8 ? Int(clamping: number) : 0
  }

  var reports: String { "\(path)/reports" }

  func remove() {
    for name in FolderListing.names(in: path) { unlink("\(path)/\(name)") }
    rmdir(path)
  }
}
