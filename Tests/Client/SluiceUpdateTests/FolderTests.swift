import Glibc
import SluiceAssembly
import Sluice
import SluiceJSON
import SluiceMessages
import SluiceServer
import SluiceTestKit
import SluiceUpdate
import SluiceUpdateRules
import Testing

/// The folder of an installation: damaged files, other processes that use it, and other users who can write to it.
@Suite struct FolderTests {
  private let releases: ReleaseServer
  private let machine: UpdatedMachine

  init() throws {
    releases = try ReleaseServer()
    machine = try UpdatedMachine(releases)
  }

  @Test func `if the state file is damaged, nothing is installed, and requests are still served`() async throws {
    try await releases.publish("1.0")
    try await UpdatedEngine.run(on: machine) { running in
      try await releases.publish("1.1")
      let state = try FileTree.read(machine.path("state"))
      var damaged = stride(from: 0, to: state.count, by: 64).map { state.flipped(at: $0) }
      damaged += stride(from: 0, to: state.count, by: 64).map { Array(state.prefix($0)) }
      for file in damaged {
        try machine.files.write(file, to: "installed/state")
        let result = await running.updater.check()
        #expect(result.error?.code == .state && result.release == nil, "\(result)")
        #expect(try FileTree.read(machine.path("state")) == file)
        #expect(try machine.status()["error"]?.string?.contains("damaged") == true)
      }
      let build = try await running.build()
      #expect(build == "1.0")
      #expect(releases.requestCount(ReleaseServer.releasePath(2)) == 0)
      await #expect(throws: UpdateError.self) { try await machine.updater().prepare() }
      try machine.files.write(state, to: "installed/state")
      let result = await running.updater.check()
      #expect(result.action == .installed && result.release == 2, "\(result)")
    }
  }

  @Test func `a damaged document on disk is fetched again`() async throws {
    try await releases.publish("1.0")
    let staged = try await machine.look(.later)
    #expect(staged.action == .staged, "\(staged)")
    let name = "releases/1.release.json"
    let bytes = try FileTree.read(machine.path(name))
    try machine.files.write(bytes.flipped(at: 200), to: "installed/\(name)")
    try await machine.installs(1)
    #expect(try FileTree.read(machine.path(name)) == bytes)
  }

  @Test func `a folder that belongs to another channel is refused`() async throws {
    try await releases.publish("1.0")
    try await machine.installs(1)
    let result = try await machine.updater { $0.update?.channel = "beta" }.check(.immediate)
    #expect(result.error?.code == .state, "\(result)")
    try machine.expectInstalled(1)
  }

  @Test func `a folder does not trust another repository`() async throws {
    try await releases.publish("1.0")
    try await machine.installs(1)
    let other = try ReleaseServer()
    try await other.publish("1.1")
    let result = try await machine.updater { configuration in
      if let url = try? HTTPURL(other.url) { configuration.update?.url = url }
    }.check(.immediate)
    #expect(result.error?.code == .signature, "\(result)")
    try machine.expectInstalled(1)
  }

  @Test func `a folder still works if its repository moves to another server`() async throws {
    try await releases.publish("1.0")
    try await machine.installs(1)
    try await releases.publish("1.1")
    let mirror = try EmbeddedServer { [releases] in ReleaseServer.file(releases.path(String($0.target.dropFirst())), $0)
    }
    let result = try await machine.updater { configuration in
      if let url = try? HTTPURL(mirror.baseURL) { configuration.update?.url = url }
    }.check(.immediate)
    #expect(result.action == .installed && result.release == 2, "\(result)")
  }

  @Test(arguments: ["", "/builds", "/releases", "/downloads"])
  func `a folder to which others can write is refused`(name: String) async throws {
    try await releases.publish("1.0")
    try await machine.installs(1)
    chmod(machine.path("") + name, 0o777)
    #expect(throws: UpdateError.self) { try machine.updater() }
    chmod(machine.path("") + name, 0o700)
    _ = try machine.updater()
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give a file away"))
  func `a folder that belongs to another user is refused`() async throws {
    try await releases.publish("1.0")
    try await machine.installs(1)
    chown(machine.path("builds"), 65534, 65534)
    #expect(throws: UpdateError.self) { try machine.updater() }
    chown(machine.path("builds"), 0, 0)
    _ = try machine.updater()
  }

  @Test func `a symbolic link in place of a download, the lock or the history is not followed`() async throws {
    let victim = try machine.files.write("precious", to: "victim")
    try await releases.publish("1.0")
    _ = try machine.updater()
    let part = machine.path("downloads/\(try await releases.target("1.0").sha256).part")
    symlink(victim, part)
    try await machine.fails(.state)
    unlink(part)
    unlink(machine.path("lock"))
    symlink(victim, machine.path("lock"))
    try await machine.fails(.state)
    unlink(machine.path("lock"))
    unlink(machine.path("history.jsonl"))
    symlink(victim, machine.path("history.jsonl"))
    try await machine.installs(1)
    #expect(try FileTree.readText(victim) == "precious")
  }

  // MARK: Several updaters

  @Test func `several updaters of one folder fetch a build once`() async throws {
    try await releases.publish("1.0")
    let machine = machine
    try await withThrowingTaskGroup(of: UpdateResult.self) { group in
      for _ in 0..<8 { group.addTask { try await machine.look() } }
      var actions: [UpdateResult.Action] = []
      for try await result in group {
        #expect(result.release == 1, "\(result)")
        actions.append(result.action)
      }
      #expect(actions.count { $0 == .installed } == 1)
    }
    let path = ReleaseServer.targetPath(try await releases.target("1.0").sha256)
    #expect(releases.requestCount(path) == 1)
  }

  /// If an engine had to wait for the other process, a slow mirror could keep all engines from starting and ending.
  @Test func `an engine can start and end while another process waits for a build`() async throws {
    let (machine, releases) = (machine, releases)
    try await releases.publish("1.0")
    try await machine.installs(1)
    try await releases.publish("1.1")
    let reached = releases.withhold(ReleaseServer.targetPath(try await releases.target("1.1").sha256))
    async let waiting = machine.look()
    try await reached.wait(for: "the request of the build")
    let build = try await UpdatedEngine.run(on: machine) { try await $0.build() }
    #expect(build == "1.0")
    releases.release()
    let result = try await waiting
    #expect(result.action == .installed && result.release == 2, "\(result)")
  }

  @Test func `if a release becomes held while an updater waits for a build, it stays held`() async throws {
    let (machine, releases) = (machine, releases)
    try await releases.publish("1.0")
    try await UpdatedEngine.run(on: machine, { $0.swap.probation?.duration = .milliseconds(1) }) { running in
      try await machine.wait(for: "passed")
      try await releases.publish("1.1")
      let second = await running.updater.check()
      #expect(second.action == .installed, "\(second)")
      try await releases.publish("1.2")
      let reached = releases.withhold(ReleaseServer.targetPath(try await releases.target("1.2").sha256))
      async let waiting = running.updater.check()
      try await reached.wait(for: "the request of the build")
      _ = try await running.engine.rollback()
      try await machine.wait(for: "held")
      releases.release()
      let third = await waiting
      #expect(third.action == .installed && third.release == 3, "\(third)")
      let history = try FileTree.readText(machine.path("history.jsonl"))
      #expect(history.contains("\"event\":\"held\""), "\(history)")
    }
  }

  @Test func `an engine loads a release that another engine of the same folder has installed`() async throws {
    try await releases.publish("1.0")
    try await UpdatedEngine.run(on: machine) { first in
      try await UpdatedEngine.run(on: machine) { second in
        try await releases.publish("1.1")
        let installed = await first.updater.check()
        #expect(installed.action == .installed, "\(installed)")
        let followed = await second.updater.check()
        #expect(followed.action == .none && followed.release == 2, "\(followed)")
        let builds = (try await first.build(), try await second.build())
        #expect(builds == ("1.1", "1.1"))
      }
    }
  }

  /// Runs 20 engines, or 100 with `SLUICE_SOAK=1`.
  @Test func `many engines look for releases on one server, and each installs a release once`() async throws {
    let count = getenv("SLUICE_SOAK") != nil ? 100 : 20
    DescriptorLimit.raise(to: 8192)
    try await releases.publish("1.0")
    let (releases, published) = (releases, Signal())
    let ready = Watched(0)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<count {
        group.addTask {
          let machine = try UpdatedMachine(releases)
          try await UpdatedEngine.run(on: machine, { $0.update?.every = .milliseconds(100) }) { running in
            ready.update { $0 += 1 }
            try await published.wait()
            try await machine.lines.wait(for: "release 2") { lines in
              lines.contains { $0.contains("release 2 ") && $0.contains(" installed: ") }
            }
            // The next looks must find nothing new.
            let requests = releases.requestCount(ReleaseServer.timestampPath)
            let again = await running.updater.check()
            #expect(again.action == .none && again.release == 2, "\(again)")
            #expect(releases.requestCount(ReleaseServer.timestampPath) > requests)
            let build = try await running.build()
            #expect(build == "1.1")
            let installed = machine.lines.value.filter { $0.contains(" installed: ") }
            #expect(installed.count == 2, "\(installed)")
          }
        }
      }
      try await ready.wait(for: "all engines") { $0 == count }
      try await releases.publish("1.1")
      published.set()
      try await group.waitForAll()
    }
  }

  // MARK: A full disk

  /// A limit on file sizes makes a write fail half-way, as on a full disk. The test does not run with a sanitizer,
  /// whose mapped memory does not work with the limit.
  @Test(.enabled(if: !Sanitizer.isOn))
  func `a build that cannot be written is not installed`() async throws {
    try await releases.publish("1.0")
    try await machine.installs(1)
    try await releases.publish("1.1")
    let sluice = BuiltProducts.executable("sluice")
    let file = try machine.configurationFile()
    for blocks in [1, 4, 16] {
      let result = try await Command.run(
        "sh", ["-c", "trap '' XFSZ; ulimit -f \(blocks); exec \"$0\" update apply -c \"$1\"", sluice, file])
      #expect(result.ending == .exited(1), "\(result.errorText)")
      try machine.expectInstalled(1)
    }
    try await machine.installs(2)
  }

  @Test(.enabled(if: SmallDisk.isPossible, "only root can mount a small disk"))
  func `if the disk is full, nothing is installed, and with free space the update works again`() async throws {
    let machine = try UpdatedMachine(releases)
    let disk = try await SmallDisk(at: machine.path(""))
    try await releases.publish("1.0")
    for free in [0, 4, 8, 16] {
      try disk.fill(leaving: free)
      let result = try await machine.look()
      #expect(result.action == .failed && result.error?.code == .state, "\(free) KiB: \(result)")
    }
    try disk.empty()
    try await machine.installs(1)
    try await disk.unmount()
  }
}

/// A file system of one megabyte in memory.
private final class SmallDisk {
  /// capabilities(7): number 21 is CAP_SYS_ADMIN.
  static let isPossible: Bool = {
    let status = (try? FileTree.readText("/proc/self/status")) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("CapEff:") }
    let mask = line.flatMap { UInt64($0.dropFirst("CapEff:".count).drop { $0.isWhitespace }, radix: 16) } ?? 0
    return mask >> 21 & 1 == 1
  }()

  private let path: String
  private var isMounted = true

  init(at path: String) async throws {
    self.path = path
    mkdir(path, 0o700)
    let result = try await Command.run("mount", ["-t", "tmpfs", "-o", "size=1m,mode=0700", "none", path])
    guard result.ending == .exited(0) else { throw TestKitError("mount: \(result.errorText)") }
  }

  deinit { if isMounted { umount2(path, Int32(MNT_DETACH)) } }

  func unmount() async throws {
    isMounted = false
    try await Command.check("umount", ["-l", path])
  }

  func fill(leaving kibibytes: Int) throws {
    try empty()
    let file = open("\(path)/ballast", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw TestKitError("open: \(errno)") }
    defer { close(file) }
    let piece = [UInt8](repeating: 1, count: 4096)
    while write(file, piece, piece.count) == piece.count {}
    var status = stat()
    fstat(file, &status)
    ftruncate(file, max(0, status.st_size - kibibytes * 1024))
  }

  func empty() throws { unlink("\(path)/ballast") }
}
