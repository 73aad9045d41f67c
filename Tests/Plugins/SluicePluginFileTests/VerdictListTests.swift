import Glibc
@testable import SluicePluginFile
import SluiceTestKit
import Testing

@testable import SluicePluginHost

/// The trials that were passed. A file counts only if no other user could have made it.
struct VerdictListTests {
  private let folder: TemporaryDirectory
  private let list: VerdictList
  private let trial: ContentHash
  private var passed: String { folder.path("store/passed") }
  private var file: String { "\(passed)/\(trial.hex)" }

  init() throws {
    folder = try TemporaryDirectory()
    list = VerdictList(store: try PluginStore(at: folder.path("store")))
    trial = try #require(ContentHash(of: Array("trial".utf8)))
  }

  @Test func `a trial that was passed is found, and no other`() throws {
    let other = try #require(ContentHash(of: Array("other".utf8)))
    #expect(!list.contains(trial))
    list.add(trial)
    list.add(trial)
    #expect(list.contains(trial) && !list.contains(other))
    #expect(VerdictList(store: try PluginStore(at: folder.path("store"))).contains(trial))
    try PluginStore(at: folder.path("store")).prune()
    #expect(list.contains(trial))
  }

  @Test(arguments: [0o640, 0o604, 0o620, 0o666] as [mode_t])
  func `a file or a folder that is open to other users does not count`(_ mode: mode_t) {
    list.add(trial)
    chmod(file, mode)
    #expect(!list.contains(trial))
    chmod(file, 0o600)
    chmod(passed, mode | 0o700)
    #expect(!list.contains(trial))
    chmod(passed, 0o700)
    #expect(list.contains(trial))
  }

  @Test(.enabled(if: geteuid() == 0)) func `a file or a folder of another user does not count`() {
    list.add(trial)
    chown(file, 65_534, 65_534)
    #expect(!list.contains(trial))
    chown(file, 0, 0)
    chown(passed, 65_534, 65_534)
    #expect(!list.contains(trial))
    chown(passed, 0, 0)
    #expect(list.contains(trial))
  }

  @Test func `a link, a folder or a FIFO in place of the file does not count`() throws {
    list.add(trial)
    let target = try folder.write("", to: "target")
    chmod(target, 0o600)
    unlink(file)
    symlink(target, file)
    #expect(!list.contains(trial))
    unlink(file)
    mkdir(file, 0o700)
    #expect(!list.contains(trial))
    rmdir(file)
    mkfifo(file, 0o600)
    #expect(!list.contains(trial))
    unlink(file)
    rename(passed, folder.path("elsewhere"))
    symlink(folder.path("elsewhere"), passed)
    let before = FileTree.names(in: folder.path("elsewhere"))
    list.add(trial)
    #expect(!list.contains(trial) && FileTree.names(in: folder.path("elsewhere")) == before)
  }

  @Test func `a list that cannot be written stays empty`() throws {
    try folder.write("not a folder", to: "store/passed")
    list.add(trial)
    #expect(!list.contains(trial))
  }

  @Test func `a full list is emptied when a trial is added`() throws {
    for number in 0..<1000 { list.add(try #require(ContentHash(of: Array("\(number)".utf8)))) }
    #expect(FileTree.names(in: passed).count == 1000)
    try folder.write("mine", to: "store/passed/note")
    list.add(trial)
    #expect(Set(FileTree.names(in: passed)) == [trial.hex, "note"])
  }
}
