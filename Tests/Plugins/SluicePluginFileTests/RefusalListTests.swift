import Glibc
@testable import SluicePluginFile
import SluiceTestKit
import Testing

@testable import SluicePluginHost

struct RefusalListTests {
  private let folder: TemporaryDirectory
  private let store: PluginStore
  private let hash: ContentHash

  init() throws {
    folder = try TemporaryDirectory()
    store = try PluginStore(at: folder.path("store"))
    hash = try #require(ContentHash(of: Array("content".utf8)))
  }

  @Test func `a refusal of a hash in upper case applies to the same build`() throws {
    let list = RefusalList(store: store, project: "/a/sluice.json")
    try list.add(hash.hex.uppercased(), because: "the moon fell")
    #expect(list.reason(for: hash) == "the moon fell" && list.all == [hash.hex: "the moon fell"])
    #expect(
      list.path(of: hash).hasPrefix(folder.path("store/refused/")) && list.path(of: hash).hasSuffix("/\(hash.hex)"))
    #expect(RefusalList(store: store, project: "/a/sluice.json").all == list.all)
    try list.clear(hash.hex.uppercased())
    #expect(list.all.isEmpty && RefusalList(store: store, project: "/a/sluice.json").all.isEmpty)
  }

  @Test func `a refusal ends when somebody removes its file`() throws {
    let list = RefusalList(store: store, project: "/a/sluice.json")
    try list.add(hash.hex, because: "the moon fell")
    #expect(unlink(list.path(of: hash)) == 0)
    #expect(list.reason(for: hash) == nil && list.all.isEmpty)
  }

  @Test(arguments: [
    "", "../x", "../../store/x", String(repeating: "a", count: 63), String(repeating: "a", count: 65),
    String(repeating: "g", count: 64), "../" + String(repeating: "a", count: 61),
    String(repeating: "\u{FF11}", count: 64),
  ])
  func `a text that is not a SHA-256 is refused and creates no file`(_ text: String) throws {
    let list = RefusalList(store: store, project: "/a/sluice.json")
    let error = #expect(throws: PluginError.self) { try list.add(text, because: "the moon fell") }
    #expect(error?.says("cannot refuse \"", "64 hex digits") == true, "\(String(describing: error))")
    #expect(list.all.isEmpty && FileTree.names(in: store.path).isEmpty)
    #expect(FileTree.names(in: folder.path) == ["store"])
  }

  @Test func `a refusal that cannot be saved applies until the process ends, and the error says so`() throws {
    try folder.write("in the way", to: "store/refused")
    let list = RefusalList(store: store, project: "/a/sluice.json")
    let error = #expect(throws: PluginError.self) { try list.add(hash.hex, because: "the moon fell") }
    #expect(error?.code == .store)
    let words = error?.says("\(hash.hex.prefix(12)) ends with this process", "\(store.path)/refused", "Not a directory")
    #expect(words == true, "\(String(describing: error))")
    #expect(list.reason(for: hash) == "the moon fell")
  }

  @Test func `if a saved refusal cannot be removed, the error says that the next process refuses the build again`()
    throws
  {
    let list = RefusalList(store: store, project: "/a/sluice.json")
    try list.add(hash.hex, because: "the moon fell")
    FileTree.remove(list.path(of: hash))
    try #require(mkdir(list.path(of: hash), 0o700) == 0)
    let error = #expect(throws: PluginError.self) { try list.clear() }
    #expect(error?.says("is refused again by the next process", "\(store.path)/refused") == true)
    #expect(list.all.isEmpty)
  }

  @Test func `a refusal belongs to one project of the store`() throws {
    let one = RefusalList(store: store, project: "/a/sluice.json")
    try one.add(hash.hex, because: "the moon fell")
    let other = RefusalList(store: store, project: "/b/sluice.json")
    #expect(other.reason(for: hash) == nil && other.all.isEmpty)
    try other.clear()
    #expect(RefusalList(store: store, project: "/a/sluice.json").reason(for: hash) == "the moon fell")
  }

  @Test
  func `all spellings of a configuration's path mean one project, and a missing path means the program's project`()
    throws
  {
    let file = try folder.write("{}", to: "real.json")
    try #require(symlink(file, folder.path("link.json")) == 0)
    #expect(RefusalList.project(of: folder.path("link.json")) == RefusalList.project(of: file))
    #expect(RefusalList.project(of: nil) != RefusalList.project(of: file) && !RefusalList.project(of: nil).isEmpty)
  }
}
