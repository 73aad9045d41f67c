import Glibc
import SluiceSupport
import SluiceTestKit
import Testing

/// The folders of commands that were killed, and what a later command does with them. The tests run one after the
/// other. If the folder of a program cannot be determined, no folder can be removed while this program runs.
@Suite(.serialized, .enabled(if: !Sanitizer.isOn)) struct AttachFolderTests {
  private let fixture: AttachFixture
  /// The path under which the commands create their folders.
  private let place: String

  init() throws {
    fixture = try AttachFixture()
    place = try fixture.folder.makeFolder("runtime")
  }

  private var environment: [String: String?] { ["XDG_RUNTIME_DIR": place] }
  private var folders: [String] { FileTree.names(in: place) }

  /// Runs commands until one of them has removed the folder. A process that starts or ends at that moment can prevent
  /// the removal.
  private func runUntil(_ isRemoved: () -> Bool) async throws {
    for _ in 0..<50 where !isRemoved() { try await runLater() }
  }

  private func runLater(_ words: [String] = []) async throws {
    let result = try await fixture.run(
      words + [Tool.path, "attach", "-c", fixture.configuration, "--", "true"], environment: environment)
    #expect(result.ending == .exited(0))
    #expect(result.errorText == "")
  }

  @Test(arguments: [
    // A program with the folder in its environment.
    #"echo ready; read line"#,
    // A program that has mapped the page, as after a transfer.
    #"exec env -i python3 -c "$MAPPING" "$SLUICE_ATTACH""#,
    // A program that has overwritten its environment.
    #"exec perl -e '$| = 1; $0 = "x" x 100000; print "ready\n"; <STDIN>'"#,
    // A program whose first thread has ended.
    #"exec python3 -c "$LEAVING""#,
  ])
  func `a folder that a killed command has left is removed when no program uses it any more`(script: String)
    async throws
  {
    let mapping = """
      import mmap, sys
      page = open(sys.argv[1].split(':')[2] + '/page', 'r+b')
      mapped = mmap.mmap(page.fileno(), 0)
      page.close()
      print('ready', flush=True)
      sys.stdin.readline()
      """
    let leaving = """
      import ctypes, sys, threading
      def read():
        print('ready', flush=True)
        sys.stdin.readline()
      threading.Thread(target=read).start()
      ctypes.CDLL(None).pthread_exit(None)
      """
    let killed = try Command(
      Tool.path, ["attach", "-c", fixture.configuration, "--", "sh", "-c", script],
      environment: Tool.cleared.merging(environment) { $1 }.merging(["MAPPING": mapping, "LEAVING": leaving]) { $1 }
    ).start()
    try await killed.waitForOutput(containing: "ready")
    let left = folders
    #expect(left.count == 1)
    killed.send(signal: SIGKILL)
    try await runLater()
    #expect(folders == left)
    killed.closeInput()
    // The program keeps its output open until it ends.
    _ = try await killed.wait(upTo: Patience.limit)
    try await runUntil { folders.isEmpty }
    #expect(folders == [])
  }

  @Test func `only an unlocked folder with the mark of a command of this machine is removed`() async throws {
    let script = #"""
      cd "$XDG_RUNTIME_DIR"
      mark=${SLUICE_ATTACH##*:}/command
      make() { mkdir -m "$2" sluice-attach-$1 && { test -z "$3" || cp "$3" sluice-attach-$1/command; }; }
      sed 's/^[^ ]*/0/' "$mark" >../boot && sed 's/ [^ ]* / 0 /' "$mark" >../container && cp "$mark" ../mark
      make 000000 700 "$mark" && make 00000 700 "$mark" && make 0000001 700 "$mark" && make locked 700 "$mark"
      make mode00 755 "$mark" && make nomark 700 "" && make boot00 700 ../boot && make contnr 700 ../container
      make linked 700 "" && ln -s ../../mark sluice-attach-linked/command
      mkdir -m 700 ../other && cp "$mark" ../other/command && ln -s ../other sluice-attach-folder
      """#
    let made = try await fixture.attach(["sh", "-c", script], environment: environment)
    #expect(made.ending == .exited(0), "\(made.errorText)")
    let before = folders
    #expect(before.count == 10)
    let lock = ["flock", "\(place)/sluice-attach-locked/command"]
    for _ in 0..<50 where folders == before { try await runLater(lock) }
    #expect(Set(before).subtracting(folders) == ["sluice-attach-000000"])
    #expect(FileTree.names(in: fixture.folder.path("other")) == ["command"])
  }

  /// Threads of the kernel belong to root, and new ones start at any time. They are children of pid 2, and are
  /// invisible in a container.
  private static let newestKernelThread = FolderListing.names(in: "/proc").compactMap { Int32($0) }
    .compactMap { ProcessRecord(of: $0) }.filter { $0.parent == 2 }.map(\.startTicks).max()

  @Test(.enabled(if: geteuid() == 0 && newestKernelThread != nil))
  func `a thread of the kernel does not count as a user of a folder`() async throws {
    let start = try #require(Self.newestKernelThread)
    let script = #"""
      cd "$XDG_RUNTIME_DIR"
      mkdir -m 700 sluice-attach-early0 && ls -d sluice-attach-early0
      # Of a command that is as old as the thread. From now on, this command itself can remove the folder.
      sed "s/^\([^ ]* [^ ]*\) [^ ]*/\1 $START/" "${SLUICE_ATTACH##*:}/command" >sluice-attach-early0/command
      """#
    let made = try await fixture.attach(
      ["sh", "-c", script], environment: environment.merging(["START": "\(start)"]) { $1 })
    #expect(made.ending == .exited(0), "\(made.errorText)")
    #expect(made.outputText == "sluice-attach-early0\n")
    try await runUntil { folders.isEmpty }
    #expect(folders == [])
  }
}
