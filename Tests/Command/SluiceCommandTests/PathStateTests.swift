import Glibc
import SluiceTestKit
import Testing

@testable import SluiceCommand

/// Detecting whether the files from which a library was built are unchanged.
@Suite struct PathStateTests {
  private let folder: TemporaryDirectory

  init() throws {
    folder = try TemporaryDirectory()
    try #require(mkdir(folder.path("tree"), 0o755) == 0 && mkdir(folder.path("tree/below"), 0o755) == 0)
    try folder.write("one", to: "file")
    try folder.write("two", to: "tree/below/source.swift")
  }

  private func state() throws -> PathState {
    try #require(
      PathState(files: [folder.path("file"), folder.path("missing")], folders: [], trees: [folder.path("tree")]))
  }

  @Test func `unchanged files are recognized, and in a tree, the names of files count but not their contents`() throws {
    let state = try state()
    #expect(state.changed == nil)
    try folder.write("three", to: "tree/below/source.swift")
    try folder.write("by an editor", to: "tree/.source.swift.swp")
    #expect(state.changed == nil)
  }

  @Test func `a file that is written, replaced, removed or created has changed`() throws {
    for act in [
      { _ = try folder.write("another length", to: "file") },
      { _ = rename(try folder.write("two", to: "new"), folder.path("file")) },
      { _ = unlink(folder.path("file")) },
    ] {
      let state = try state()
      try act()
      #expect(state.changed == folder.path("file"))
      try folder.write("one", to: "file")
    }
    let state = try state()
    try folder.write("", to: "missing")
    #expect(state.changed == folder.path("missing"))
  }

  @Test func `a tree has changed if a file or a folder was added or removed`() throws {
    var state = try state()
    try folder.write("", to: "tree/below/more.swift")
    #expect(state.changed == folder.path("tree/below"))
    state = try self.state()
    mkdir(folder.path("tree/new"), 0o755)
    #expect(state.changed == folder.path("tree"))
    state = try self.state()
    unlink(folder.path("tree/below/more.swift"))
    #expect(state.changed == folder.path("tree/below"))
  }

  @Test func `a tree that contains a symbolic link has no state`() throws {
    symlink("below", folder.path("tree/link"))
    #expect(PathState(files: [], folders: [], trees: [folder.path("tree")]) == nil)
  }

  @Test func `the age of a change is taken from the kernel's ctime, which touch cannot set`() throws {
    let state = try state()
    var old = [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 1, tv_nsec: 0)]
    try #require(utimensat(AT_FDCWD, folder.path("file"), &old, 0) == 0)
    #expect(!state.isOlder(than: .seconds(1000), except: { _ in false }))
    #expect(state.isOlder(than: .seconds(1 << 40), except: { _ in false }))
    #expect(state.isOlder(than: .seconds(1000), except: { _ in true }))
  }
}
