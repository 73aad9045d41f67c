import CLinux
import Glibc
import SluiceAssembly
import SluicePluginFile
import SluicePluginHost
import SluiceSupport
import SluiceTestKit
import Testing

@testable import SluiceCommand

/// Which events of the file system change the sources of a plugin, and how often they are built.
@Suite struct DevWatchTests {
  /// A table that watches the sources at one path.
  private final class SourceWatch {
    let root: String
    private let folders: Locked<[String]>
    private var table: WatchTable

    /// - Parameter path: below the root.
    init(_ path: String, in root: String) {
      let folders = Locked<[String]>([])
      self.root = root
      self.folders = folders
      table = WatchTable(
        add: { folder in
          folders.withLock { folders in
            let known = folders.firstIndex(of: folder)
            if known == nil { folders.append(folder) }
            return Int32(known ?? folders.count - 1)
          }
        }, remove: { _ in })
      table.replace([.tree("\(root)/\(path)")])
    }

    /// Whether an event about a name in a folder changes the sources.
    func isChanged(_ folder: String, _ name: String, _ mask: Int32...) -> Bool {
      let path = "\(root)\(folder)"
      guard let watch = folders.withLock({ $0.firstIndex(of: path) }) else { return false }
      let bits = mask.reduce(0) { $0 | UInt32(bitPattern: $1) }
      return !table.changes([WatchEvent(watch: Int32(watch), mask: bits, name: name)]).isEmpty
    }
  }

  @Test(arguments: ["real", "real/.", "link"])
  func `a change of a folder with outputs is no change of the sources around it`(_ path: String) throws {
    let folder = try TemporaryDirectory()
    for name in ["real", "real/build", "real/part"] { try folder.makeFolder(name) }
    #expect(symlink("real", folder.path("link")) == 0)
    let watch = SourceWatch(path, in: try #require(Paths.resolved(folder.path)))
    for mask in [IN_ATTRIB, IN_CREATE, IN_DELETE, IN_MOVED_TO, IN_MOVED_FROM] {
      for name in ["build", "node_modules", ".build", "x.tmp"] {
        #expect(!watch.isChanged("/real", name, mask, IN_ISDIR), "\(name) \(mask)")
      }
    }
    #expect(!watch.isChanged("/real/build", "x.c", IN_CLOSE_WRITE) && !watch.isChanged("/real", "x.o", IN_CLOSE_WRITE))
    #expect(watch.isChanged("/real", "build", IN_CLOSE_WRITE), "a file can have this name")
    #expect(watch.isChanged("/real", "more", IN_CREATE, IN_ISDIR))
    #expect(watch.isChanged("/real/part", "x.c", IN_CLOSE_WRITE))
  }

  @Test func `the target of a symbolic link is a source, except a folder and an output`() throws {
    let folder = try TemporaryDirectory()
    for name in ["build", "build/real", "build/real/build", "build/out", "build/part", "build/build"] {
      try folder.makeFolder(name)
    }
    for name in ["source", "real/build/x", "out/x", "part/x", "x.o", "build/x"] {
      try folder.write("x", to: "build/\(name)")
    }
    for (link, target) in [
      ("a", "../source"), ("b", "../out/x"), ("c", "build/x"), ("d", "../build/x"), ("e", "../part"), ("f", "../x.o"),
      ("g", "g"), ("h", "gone"),
    ] {
      #expect(symlink(target, folder.path("build/real/\(link)")) == 0)
    }
    let watch = SourceWatch("build/real", in: try #require(Paths.resolved(folder.path)))
    #expect(watch.isChanged("/build", "source", IN_CLOSE_WRITE) && watch.isChanged("/build/out", "x", IN_MOVED_TO))
    for path in ["/build/real/build", "/build/build", "/build/part"] {
      #expect(!watch.isChanged(path, "x", IN_CLOSE_WRITE), "\(path)")
    }
    #expect(!watch.isChanged("/build", "x.o", IN_CLOSE_WRITE) && !watch.isChanged("/build", "else", IN_CLOSE_WRITE))
    // A link that is made later.
    try folder.write("x", to: "build/late")
    #expect(!watch.isChanged("/build", "late", IN_CLOSE_WRITE))
    #expect(symlink("../late", folder.path("build/real/late")) == 0)
    #expect(watch.isChanged("/build/real", "late", IN_CREATE) && watch.isChanged("/build", "late", IN_CLOSE_WRITE))
  }

  @Test func `the same sources are built again twice at most, however often a build writes them`() throws {
    var state = BuildState(rule: PluginBuildRule(.folder("f"), sources: ["f"]))
    for content in ["a", "b"] {
      state.adopt(try #require(ContentHash(of: Array(content.utf8))))
      #expect((0..<9).map { _ in state.mustRepeat() } == [true, true] + Array(repeating: false, count: 7))
    }
  }
}
