import Glibc
@testable import SluicePluginFile
import SluiceTestKit
import Testing

@testable import SluicePluginHost

struct CanaryListTests {
  private let folder: TemporaryDirectory
  private let list: CanaryList
  private let (old, new): (ContentHash, ContentHash)
  private let copy: String

  init() throws {
    folder = try TemporaryDirectory()
    list = CanaryList(store: try PluginStore(at: folder.path("store")), project: "/a/sluice.json")
    old = try #require(ContentHash(of: Array("old".utf8)))
    new = try #require(ContentHash(of: Array("new".utf8)))
    copy = try folder.write("old", to: "store/copy.so")
  }

  private func begin(_ library: String = "/a/a.so") throws -> CanaryRecord? {
    try list.begin(library, new, percent: 1, replacing: old, at: copy)
  }

  @Test func `a record has the state and the share of its canary, and the old build`() throws {
    #expect(list.finding(of: "/a/a.so", new) == nil)
    var record = try begin()
    let finding = try #require(list.finding(of: "/a/a.so", new))
    #expect(finding.state == .running && finding.percent == 1 && finding.old == old)
    #expect(try FileTree.readText(finding.copy) == "old")
    #expect(list.finding(of: "/a/b.so", new) == nil && list.finding(of: "/a/a.so", old) == nil)
    record?.note(percent: 33.3333333333)
    #expect(list.finding(of: "/a/a.so", new)?.percent == 33.33333)
    #expect(try begin() == nil)
    record = nil
    #expect(list.finding(of: "/a/a.so", new)?.state == .unfinished)
  }

  @Test func `only the first end counts`() throws {
    let refused = try begin()
    refused?.end(.refused)
    refused?.end(.replaced)
    refused?.note(percent: 2)
    let finding = try #require(list.finding(of: "/a/a.so", new))
    #expect(finding.state == .refused && finding.percent == 1)
    // The canary can begin again when its refusal was cleared.
    let replaced = try begin()
    #expect(list.finding(of: "/a/a.so", new)?.state == .running)
    replaced?.end(.replaced)
    #expect(list.finding(of: "/a/a.so", new) == nil && !FileTree.exists(finding.copy))
  }

  @Test(arguments: [0, 10, 64, 121, 122, 123, 4096])
  func `a damaged record does not count`(_ length: Int) throws {
    let record = try begin()
    let path = try #require(list.finding(of: "/a/a.so", new)).record
    let bytes = try FileTree.read(path)
    #expect(bytes.count == 122)
    let damaged = length == bytes.count ? Array(repeating: UInt8(ascii: "x"), count: length) : bytes
    try withExtendedLifetime(record) {
      let file = try #require(fopen(path, "r+"))
      fwrite(damaged, 1, damaged.count, file)
      fclose(file)
      truncate(path, length)
      #expect(list.finding(of: "/a/a.so", new) == nil)
    }
  }

  @Test func `if the machine was started again, a canary that ran is not decided`() throws {
    var record = try begin()
    let path = try #require(list.finding(of: "/a/a.so", new)).record
    let text = try FileTree.readText(path)
    record = nil
    // As after the end of the process, and then as after a start of the machine.
    for (boot, state) in [(0, CanaryList.Finding.State.crashed), (1, .unfinished)] {
      let file = try #require(fopen(path, "r+"))
      fputs(boot == 0 ? text : text.replacing(/[^ ]*\n/, with: "00000000-0000-0000-0000-000000000000" + "\n"), file)
      fclose(file)
      #expect(list.finding(of: "/a/a.so", new)?.state == state)
    }
    #expect(record == nil)
  }

  @Test func `records of other content of a library are removed, but not those of a running canary`() throws {
    let running = try begin()
    try begin("/a/b.so")?.end(.refused)
    #expect(list.removeOthers(of: "/a/a.so", old).isEmpty && list.removeOthers(of: "/a/b.so", new).isEmpty)
    #expect(list.finding(of: "/a/a.so", new)?.state == .running && list.finding(of: "/a/b.so", new)?.state == .refused)
    #expect(list.removeOthers(of: "/a/b.so", old).isEmpty)
    #expect(list.finding(of: "/a/b.so", new) == nil)
    running?.end(.replaced)
  }

  @Test func `a link to a record, a folder and a FIFO do not count`() throws {
    let record = try begin()
    let path = try #require(list.finding(of: "/a/a.so", new)).record
    rename(path, path + ".moved")
    symlink(path + ".moved", path)
    #expect(list.finding(of: "/a/a.so", new) == nil)
    unlink(path)
    mkfifo(path, 0o600)
    #expect(list.finding(of: "/a/a.so", new) == nil)
    unlink(path)
    mkdir(path, 0o700)
    #expect(list.finding(of: "/a/a.so", new) == nil)
    record?.end(.unfinished)
  }

  @Test func `if the copy is gone, there is no record and an error`() throws {
    unlink(copy)
    let error = #expect(throws: PluginError.self) { try begin() }
    #expect(error?.says("the canary cannot be recorded, so it does not begin", "No such file") == true)
    #expect(
      FileTree.names(in: folder.path("store/canaries")).flatMap {
        FileTree.names(in: folder.path("store/canaries/\($0)"))
      }.isEmpty)
  }
}
