import Glibc
@testable import SluicePluginFile
import SluiceTestKit
import Testing

@testable import SluicePluginHost

struct PluginStoreTests {
  private let folder: TemporaryDirectory
  private let image: LibraryImage

  init() throws {
    folder = try TemporaryDirectory()
    let path = try folder.write("content", to: "a.so")
    chmod(path, 0o644)
    image = try LibraryImage(reading: path)
  }

  private func error(_ path: String) -> PluginError? {
    do {
      _ = try PluginStore(at: path)
      return nil
    } catch {
      return error
    }
  }

  /// Creates a copy like one that an ended process has left behind, and returns its path.
  private func leaveBehind(_ store: PluginStore, generation: Int) throws -> String {
    let name = "store/\(image.hash.hex)"
    if !FileTree.exists(folder.path(name)) { try folder.makeFolder(name) }
    try folder.makeFolder("\(name)/\(generation)")
    try folder.write("", to: "\(name)/\(generation)/owner")
    return try folder.write("old", to: "\(name)/\(generation)/plugin.so")
  }

  /// Sets the time of a file's last change to a number of seconds ago.
  private func setAge(_ name: String, seconds: Int) {
    let changed = timespec(tv_sec: time(nil) - seconds, tv_nsec: 0)
    let isSet = utimensat(AT_FDCWD, folder.path(name), [changed, changed], 0) == 0
    #expect(isSet)
  }

  @Test func `the default store is in the user's cache folder`() {
    let home = ["HOME": "/home/a"]
    #expect(PluginStore.defaultPath { ["XDG_CACHE_HOME": "/c"][$0] } == "/c/sluice/plugins")
    #expect(PluginStore.defaultPath { home[$0] } == "/home/a/.cache/sluice/plugins")
    #expect(PluginStore.defaultPath { ["XDG_CACHE_HOME": "c", "HOME": "/h"][$0] } == "/h/.cache/sluice/plugins")
    #expect(PluginStore.defaultPath { _ in nil }?.hasSuffix("/.cache/sluice/plugins") == true)
  }

  @Test func `missing folders are created so that only the user has access`() throws {
    let path = folder.path("x/y/store")
    _ = try PluginStore(at: path)
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o700)
  }

  @Test func `the path of a copy contains the hash and the generation, and only the owner may read and run the copy`()
    throws
  {
    let store = try PluginStore(at: folder.path("store"))
    let copy = try store.stage(image)
    #expect(copy.path == "\(store.path)/\(image.hash.hex)/1/plugin.so")
    #expect(try FileTree.read(copy.path) == image.bytes)
    var status = stat()
    #expect(stat(copy.path, &status) == 0 && status.st_mode & 0o777 == 0o500)
  }

  @Test func `every generation has its own path and inode`() throws {
    let store = try PluginStore(at: folder.path("store"))
    let copies = try (0..<3).map { _ in try store.stage(image) }
    #expect(copies.map(\.generation) == [1, 2, 3])
    #expect(Set(copies.map(\.inode)).count == 3)
  }

  @Test func `copies made at the same time get different generations`() async throws {
    let (path, image) = (folder.path("store"), image)
    let copies = try await withThrowingTaskGroup(of: StoredPlugin.self) { group in
      for _ in 0..<16 { group.addTask { try PluginStore(at: path).stage(image) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(Set(copies.map(\.generation)) == Set(1...16))
    #expect(copies.allSatisfy { FileTree.exists($0.path) })
  }

  @Test func `a copy is removed when its owning object is released`() throws {
    let store = try PluginStore(at: folder.path("store"))
    do { _ = try store.stage(image) }
    #expect(FileTree.names(in: store.path) == [])
  }

  @Test func `all copies are locked, and together they need only one descriptor`() throws {
    let store = try PluginStore(at: folder.path("store"))
    let first = try store.stage(image)
    func openInStore() -> Int {
      FileTree.names(in: "/proc/self/fd").count { number in
        guard let target = realpath("/proc/self/fd/\(number)", nil) else { return false }
        defer { free(target) }
        return String(cString: target).hasPrefix(store.path)
      }
    }
    let copies = [first] + (try (0..<20).map { _ in try store.stage(image) })
    #expect(openInStore() == 1)
    store.prune()
    #expect(copies.allSatisfy { FileTree.exists($0.path) })
  }

  @Test func `copies of a dead process are removed when the store is pruned`() throws {
    let store = try PluginStore(at: folder.path("store"))
    let held = try store.stage(image)
    let left = try leaveBehind(store, generation: 9)
    store.prune()
    #expect(!FileTree.exists(left))
    #expect(FileTree.exists(held.path))
  }

  @Test func `pruning removes only a limited number of copies`() throws {
    let store = try PluginStore(at: folder.path("store"))
    for generation in 1...3 { _ = try leaveBehind(store, generation: generation) }
    store.prune(limit: 2)
    #expect(FileTree.names(in: "\(store.path)/\(image.hash.hex)").count == 1)
    store.prune(limit: 2)
    #expect(FileTree.names(in: store.path) == [])
  }

  @Test func `a copy that another process holds is not removed`() async throws {
    let store = try PluginStore(at: folder.path("store"))
    let left = try leaveBehind(store, generation: 1)
    let owner = folder.path("store/\(image.hash.hex)/1/owner")
    let other = try Command("flock", ["--shared", owner, "sh", "-c", "echo held; cat"]).start()
    try await other.waitForOutput(containing: "held")
    store.prune()
    #expect(FileTree.exists(left))
    #expect(try store.stage(image).generation == 2)
    other.closeInput()
    _ = try await other.wait()
    store.prune()
    #expect(!FileTree.exists(left))
  }

  @Test func `a new staging folder is not removed`() throws {
    let store = try PluginStore(at: folder.path("store"))
    try folder.makeFolder("store/.staging-1-2")
    _ = try folder.write("x", to: "store/.staging-1-2/plugin.so")
    // The age is computed from file times, which can come from another clock. The test therefore sets the times itself.
    setAge("store/.staging-1-2", seconds: 600 - 300)
    StorePruner(store: store.path, limit: 9).run()
    #expect(FileTree.names(in: store.path) == [".staging-1-2"])
    setAge("store/.staging-1-2", seconds: 600 + 300)
    StorePruner(store: store.path, limit: 9).run()
    #expect(FileTree.names(in: store.path) == [])
  }

  @Test(.enabled(if: access("/dev/shm", W_OK) == 0, "there is no /dev/shm"))
  func `a file with the earliest possible time counts as old`() async {
    await #expect(processExitsWith: .success) {
      // A file system in memory can store any time.
      setenv("TMPDIR", "/dev/shm", 1)
      let folder = try TemporaryDirectory()
      try folder.makeFolder(".staging-1-2")
      try folder.write("", to: ".owner-1-2")
      let first = timespec(tv_sec: .min, tv_nsec: 0)
      for name in [".staging-1-2", ".owner-1-2"] {
        try #require(utimensat(AT_FDCWD, folder.path(name), [first, first], 0) == 0)
      }
      StorePruner(store: folder.path, limit: 9).run()
      #expect(FileTree.names(in: folder.path) == [])
    }
  }

  @Test(arguments: ["9223372036854775807", "-9223372036854775808", "1000000001"])
  func `a folder with a number that no store assigns is ignored`(_ number: String) throws {
    let store = try PluginStore(at: folder.path("store"))
    try folder.makeFolder("store/\(image.hash.hex)")
    try folder.makeFolder("store/\(image.hash.hex)/\(number)")
    #expect(try store.stage(image).generation == 1)
  }

  @Test func `a store folder that is open to other users is refused, and the error says how to close it`() throws {
    let path = try folder.makeFolder("open")
    chmod(path, 0o755)
    #expect(error(path)?.says(path, "key \"store\"", "is open to other users", "chmod 700 \(path)") == true)
  }

  @Test func `a store folder of another user, or on a noexec or read-only mount, is refused`() {
    func reason(mode: mode_t = 0o40700, owner: uid_t = 1, flags: UInt = 0) -> String? {
      StoreFolder.refusal(of: "/x", mode: mode, owner: owner, user: 1, mountFlags: flags)?.reason
    }
    #expect(reason() == nil)
    #expect(reason(owner: 2)?.contains("belongs to another user (2)") == true)
    #expect(reason(flags: MountFlag.noExec)?.contains("mounted noexec") == true)
    #expect(reason(flags: 1)?.contains("read-only") == true)
  }

  @Test func `the error for a store that was removed names the store and its configuration key`() throws {
    let store = try PluginStore(at: folder.path("store"))
    FileTree.remove(store.path)
    let error = #expect(throws: PluginError.self) { _ = try store.stage(image) }
    #expect(error?.code == .store)
    #expect(error?.says(store.path, "key \"store\"", "cannot be written to", "No such file") == true)
  }

  @Test func `a symbolic link in place of a hash folder is refused, and nothing is written to its target`() throws {
    let store = try PluginStore(at: folder.path("store"))
    let elsewhere = try folder.makeFolder("elsewhere")
    let entry = folder.path("store/\(image.hash.hex)")
    try #require(symlink(elsewhere, entry) == 0)
    let error = #expect(throws: PluginError.self) { _ = try store.stage(image) }
    #expect(error?.code == .store)
    #expect(error?.says("\(entry) is a symbolic link", "remove it") == true, "\(String(describing: error))")
    #expect(FileTree.names(in: elsewhere) == [])
  }

  @Test func `a hash folder that is open to other users is refused`() throws {
    let store = try PluginStore(at: folder.path("store"))
    let entry = try folder.makeFolder("store/\(image.hash.hex)")
    chmod(entry, 0o777)
    let error = #expect(throws: PluginError.self) { _ = try store.stage(image) }
    #expect(error?.says("\(entry) belongs to another user or is open to others") == true)
  }

  @Test func `if a hash folder is a symbolic link, its target is not cleared`() throws {
    let store = try PluginStore(at: folder.path("store"))
    try folder.makeFolder("elsewhere")
    try folder.makeFolder("elsewhere/1")
    let kept = try folder.write("mine", to: "elsewhere/1/plugin.so")
    try #require(symlink(folder.path("elsewhere"), folder.path("store/\(image.hash.hex)")) == 0)
    store.prune()
    #expect(FileTree.exists(kept))
  }

  @Test func `a full disk and a disk without write permission have different errors`() {
    errno = ENOSPC
    #expect(StoreFolder.error("/x", "a copy cannot be written").says("No space left", "free some space"))
    errno = EACCES
    #expect(StoreFolder.error("/x", "cannot be written to").says("Permission denied", "this user can write to"))
  }

  @Test func `if there is a file at the store's path, the error names the file`() throws {
    let path = try folder.write("", to: "file")
    #expect(error(path)?.says(path, "cannot be opened", "Not a directory") == true)
    #expect(error("\(path)/store")?.says("cannot be made") == true)
  }
}
