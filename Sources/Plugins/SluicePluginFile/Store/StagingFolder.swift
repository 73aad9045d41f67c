import Glibc
import SluicePluginHost
import SluiceSupport

/// A folder under a temporary name, in which a copy is written. A rename then publishes the folder with the copy. If it
/// is not published, it is removed.
struct StagingFolder: ~Copyable {
  static let prefix = ".staging-"
  static let fileName = "plugin.so"

  let path: String
  private let store: String

  init(in store: String) throws(PluginError) {
    self.store = store
    let suffix = UInt64.random(in: .min ... .max)
    path = "\(store)/\(Self.prefix)\(getpid())-\(String(suffix, radix: 16))"
    guard mkdir(path, 0o700) == 0 else { throw StoreFolder.error(store, "cannot be written to") }
  }

  deinit {
    // After the rename, these paths do not exist, so the calls fail and change nothing.
    unlink("\(path)/\(Self.fileName)")
    unlink("\(path)/\(StoreOwner.linkName)")
    rmdir(path)
  }

  /// Marks the copy as owned by `owner`, writes it, and returns the status of its file, with the device and the inode.
  func write(_ content: PageBytes, for owner: StoreOwner) throws(PluginError) -> stat {
    guard owner.own(path) else { throw StoreFolder.error(store, "a copy cannot be locked") }
    let name = "\(path)/\(Self.fileName)"
    try fill(name, content)
    var status = stat()
    guard lstat(name, &status) == 0 else { throw StoreFolder.error(store, "cannot examine a copy") }
    return status
  }

  /// Writes the file and closes it, so that no descriptor is left with which code could write to the file when it is
  /// mapped. The file is not synced: after a failure of the system no process holds it, and it is removed.
  private func fill(_ name: String, _ content: PageBytes) throws(PluginError) {
    guard let file = FileDescriptor(opening: name, O_WRONLY | O_CREAT | O_EXCL, mode: 0o500) else {
      throw StoreFolder.error(store, "cannot be written to")
    }
    guard content.withUnsafeBytes({ file.writeAll($0) }), file.closeAfterWriting() else {
      throw StoreFolder.error(store, "a copy of \(content.count) bytes cannot be written")
    }
  }
}
