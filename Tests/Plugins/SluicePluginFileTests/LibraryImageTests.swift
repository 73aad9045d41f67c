import Glibc
@testable import SluicePluginFile
import SluiceSupport
import SluiceTestKit
import Testing

@testable import SluicePluginHost

struct LibraryImageTests {
  private let folder: TemporaryDirectory

  init() throws { folder = try TemporaryDirectory() }

  private func error(_ path: String, limit: Int = LibraryImage.sizeLimitBytes) -> PluginError? {
    do {
      _ = try LibraryImage(reading: path, sizeLimitBytes: limit)
      return nil
    } catch {
      return error
    }
  }

  private func write(_ text: String, _ name: String = "a.so", mode: mode_t = 0o644) throws -> String {
    let path = try folder.write(text, to: name)
    chmod(path, mode)
    return path
  }

  @Test func `the identity of a library is the SHA-256 of its bytes`() throws {
    let image = try LibraryImage(reading: try write("abc"))
    #expect(image.bytes == Array("abc".utf8))
    #expect(image.hash.hex == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  }

  @Test func `a file that does not exist is an error with the code notFound`() {
    #expect(error(folder.path("none.so"))?.code == .notFound)
    #expect(error(folder.path("none.so"))?.says("none.so", "no such file", "\"library\"") == true)
  }

  @Test func `a folder in place of a library is refused`() {
    #expect(error(folder.path)?.says("is a folder") == true)
  }

  @Test func `a FIFO is refused without waiting for a writer`() throws {
    #expect(mkfifo(folder.path("fifo"), 0o600) == 0)
    #expect(error(folder.path("fifo"))?.code == .notRegularFile)
  }

  @Test func `a device in place of a library is refused`() {
    #expect(error("/dev/null")?.code == .notRegularFile)
  }

  @Test func `a file above the limit is refused before it is read`() throws {
    let path = try write("abcd")
    #expect(error(path, limit: 3)?.says("is 4 bytes long", "limit is 3") == true)
    #expect(error(path, limit: 4) == nil)
  }

  @Test func `a file that is longer than its stated size is a transient error`() {
    // Files of /proc have a stated size of 0.
    let error = error("/proc/self/maps")
    #expect(error?.code == .changedWhileRead)
    #expect(error?.isTransient == true)
  }

  @Test func `a change of a file's size, time or inode is noticed`() {
    var before = stat()
    before.st_size = 10
    for change in [{ $0.st_size = 11 }, { $0.st_ino = 1 }, { $0.st_mtim.tv_nsec = 1 }] as [(inout stat) -> Void] {
      var after = before
      change(&after)
      #expect(!after.isUnchanged(since: before))
    }
    #expect(before.isUnchanged(since: before))
  }

  @Test(arguments: [(0o664, "its group"), (0o646, "others"), (0o666, "its group and by others")])
  func `a library that other users may write is refused`(mode: Int, words: String) throws {
    let path = try write("abc", mode: mode_t(mode))
    let error = error(path)
    #expect(error?.code == .refusedPermissions)
    #expect(error?.says("the file is writable by \(words)", "chmod go-w \(path)") == true)
  }

  @Test(arguments: [0o770, 0o707, 0o1777])
  func `a library in a folder that other users may write is refused`(mode: Int) throws {
    let path = try write("abc")
    chmod(folder.path, mode_t(mode))
    let error = error(path)
    #expect(error?.code == .refusedPermissions)
    #expect(error?.says("its folder \(folder.path) is writable", "chmod go-w \(folder.path)") == true)
  }

  @Test func `if other users may write a library and its folder, one error names both`() throws {
    let path = try write("abc", mode: 0o664)
    chmod(folder.path, 0o775)
    let error = error(path)
    #expect(error?.code == .refusedPermissions)
    #expect(
      error?.reason == "the file is writable by its group, and its folder \(folder.path) is writable by its group")
    #expect(error?.advice == "run: chmod go-w \(path) \(folder.path), or move the library")
    chmod(path, 0o644)
    chmod(folder.path, 0o755)
    #expect(self.error(path) == nil)
  }

  @Test func `folders above the library's own are not checked`() throws {
    chmod(folder.path, 0o1777)
    try folder.makeFolder("own")
    let path = try write("abc", "own/a.so")
    #expect(error(path) == nil)
  }

  @Test func `a symbolic link is followed, and the folder of the real file is checked`() throws {
    let open = try folder.makeFolder("open")
    let path = try write("abc", "open/a.so")
    let link = folder.path("link.so")
    #expect(symlink(path, link) == 0)
    #expect(error(link) == nil)
    chmod(open, 0o777)
    #expect(error(link)?.says(link, open) == true)
  }

  @Test func `a library that belongs to another user is refused, unless that user is root`() {
    #expect(LibraryPermissions.reason(mode: 0o644, owner: 1000, user: 1001)?.contains("another user (1000)") == true)
    #expect(LibraryPermissions.reason(mode: 0o644, owner: 0, user: 1001) == nil)
    #expect(LibraryPermissions.reason(mode: 0o644, owner: 1001, user: 1001) == nil)
  }
}
