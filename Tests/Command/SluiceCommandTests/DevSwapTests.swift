import Glibc
import SluiceJSON
import SluiceTestKit
import Testing

/// `sluice dev` with libraries whose files change in every possible way.
@Suite struct DevSwapTests {
  @Test func `a library that is renamed into place serves the next request`() async throws {
    let (run, library) = try await DevRun.stamped("--listen", "0")
    let address = try await run.start()
    #expect(try await run.stamp(at: address) == "1")
    try library.install(2, at: run.library)
    let swapped = try await run.next("swapped")
    #expect(swapped.plugins == ["a"] && swapped["sinceChangeMs"]?.number ?? 0 > 0, "\(swapped)")
    #expect(swapped["report"]?["changes"]?[0]?["new"]?["generation"]?.integer == 2)
    #expect(try await run.stamp(at: address) == "2")
    let request = try await run.next("request") { $0["snapshot"]?.integer == 2 }
    #expect(request["status"]?.integer == 200 && request["path"]?.string == "/", "\(request)")
    #expect(try await run.end().status == 130)
    #expect(run.events.last?["event"]?.string == "stopped")
  }

  @Test func `a library in Swift is swapped like a library in C`() async throws {
    let library = try StampedLibrary.inSwift()
    let run = try await DevRun("--listen", "0") { try library.install(1, at: $0.path("a.so")) }
    let address = try await run.start()
    for number in 2...4 {
      try library.install(number, at: run.library)
      try await run.next("swapped")
      #expect(try await run.stamp(at: address) == "\(number)")
    }
    try await run.end()
  }

  @Test func `a library that is overwritten or truncated in place does no harm, and serves when it is complete`()
    async throws
  {
    let (run, library) = try await DevRun.stamped("--listen", "0")
    let address = try await run.start()
    try StampedLibrary.write(library.build(2), to: run.library)
    try await run.next("swapped")
    #expect(try await run.stamp(at: address) == "2")
    try StampedLibrary.write(Array(library.build(3).prefix(5000)), to: run.library)
    let refused = try await run.next("refused")
    #expect(refused["subject"]?.string == "plugins" && refused["reason"]?.string?.contains("truncated") == true)
    #expect(try await run.stamp(at: address) == "2")
    try StampedLibrary.write(library.build(3), to: run.library)
    try await run.next("swapped")
    #expect(try await run.stamp(at: address) == "3")
    try await run.end()
  }

  @Test func `symbolic links are followed, even if one of them changes`() async throws {
    let library = try await StampedLibrary.inC()
    let run = try await DevRun(
      "--listen", "0",
      configuration: { DevRun.configuration($0, plugin: #""library": "now/a.so", "config": {"header": "x-stamp-a"}"#) }
    ) { folder in
      for number in 1...3 {
        mkdir(folder.path("build-\(number)"), 0o755)
        try library.install(number, at: folder.path("build-\(number)/real.so"))
        symlink("real.so", folder.path("build-\(number)/a.so"))
      }
      symlink("build-1", folder.path("now"))
    }
    let address = try await run.start()
    // Changes the link to the folder, by renaming another link over it.
    symlink("build-2", run.folder.path("next"))
    #expect(rename(run.folder.path("next"), run.folder.path("now")) == 0)
    try await run.next("swapped")
    #expect(try await run.stamp(at: address) == "2")
    // Changes the file that the links now lead to.
    try library.install(4, at: run.folder.path("build-2/real.so"))
    try await run.next("swapped")
    #expect(try await run.stamp(at: address) == "4")
    // Removes the link to the folder, and creates it again.
    unlink(run.folder.path("now"))
    symlink("build-3", run.folder.path("now"))
    try await run.next("swapped")
    #expect(try await run.stamp(at: address) == "3")
    try await run.end()
  }

  @Test func `a change from build A to B and back to A is noticed, even if age and size stay the same`() async throws {
    let (run, library) = try await DevRun.stamped("--listen", "0")
    let address = try await run.start()
    for number in [2, 1] {
      try library.install(number, at: run.folder.path("other.so"))
      var times = [timespec(tv_sec: 1_000_000, tv_nsec: 0), timespec(tv_sec: 1_000_000, tv_nsec: 0)]
      utimensat(AT_FDCWD, run.folder.path("other.so"), &times, 0)
      #expect(rename(run.folder.path("other.so"), run.library) == 0)
      try await run.next("swapped")
      #expect(try await run.stamp(at: address) == "\(number)")
    }
    try await run.end()
  }

  @Test func `dev waits for a writer that sets the size first and fills the file through a mapping`() async throws {
    let (run, library) = try await DevRun.stamped("--listen", "0")
    let address = try await run.start()
    let build = library.build(2)
    // The file is closed at its full size, but empty. The kernel reports no event for writes through the mapping.
    let descriptor = open(run.library + ".new", O_RDWR | O_CREAT | O_CLOEXEC, 0o755)
    try #require(descriptor >= 0 && ftruncate(descriptor, build.count) == 0)
    let mapping = mmap(nil, build.count, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
    let start = try #require(mapping == MAP_FAILED ? nil : mapping)
    close(descriptor)
    try #require(rename(run.library + ".new", run.library) == 0)
    try await run.next("refused")
    #expect(try await run.stamp(at: address) == "1")
    start.copyMemory(from: build, byteCount: build.count)
    munmap(start, build.count)
    try await run.next("swapped")
    #expect(try await run.stamp(at: address) == "2")
    try await run.end()
  }

  /// Writes a library over two seconds, as the linker gold does. It runs at real speed, and therefore only with
  /// `SLUICE_SOAK=1`. With a mapping, the file is closed before anything is written. Without a mapping, it is closed at
  /// the end.
  @Test(.enabled(if: Tool.isSoak), arguments: [false, true])
  func `dev waits for a writer that sets the size first and fills the file over two seconds`(_ isMapped: Bool)
    async throws
  {
    let (run, library) = try await DevRun.stamped("--listen", "0")
    let address = try await run.start()
    let build = library.build(2)
    // Creates a new file at the path, as linkers do.
    unlink(run.library)
    let descriptor = open(run.library, O_RDWR | O_CREAT | O_CLOEXEC, 0o755)
    try #require(descriptor >= 0 && ftruncate(descriptor, build.count) == 0)
    let mapping = mmap(nil, build.count, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
    let start = try #require(mapping == MAP_FAILED ? nil : mapping)
    if isMapped { close(descriptor) }
    let (began, pieces) = (ContinuousClock.now, 40)
    for piece in 0..<pieces {
      let range = build.count * piece / pieces..<build.count * (piece + 1) / pieces
      if isMapped {
        start.advanced(by: range.lowerBound).copyMemory(from: Array(build[range]), byteCount: range.count)
      } else {
        #expect(pwrite(descriptor, Array(build[range]), range.count, off_t(range.lowerBound)) == range.count)
      }
      #expect(try await run.stamp(at: address) == "1", "after piece \(piece)")
      try await Task.sleep(until: began + .milliseconds(50 * (piece + 1)))
    }
    munmap(start, build.count)
    if !isMapped { close(descriptor) }
    try await run.next("swapped")
    #expect(try await run.stamp(at: address) == "2")
    #expect(run.count("swapped") == 1 && run.count("refused") <= 3, "too many events: \(run.running.outputSoFar)")
    try await run.end()
  }

  /// Runs at real speed, and therefore only with `SLUICE_SOAK=1`.
  @Test(.enabled(if: Tool.isSoak))
  func `a thousand touches per second for five seconds cause no flood of events, and the next build serves`()
    async throws
  {
    let (run, library) = try await DevRun.stamped("--listen", "0")
    let address = try await run.start()
    let began = ContinuousClock.now
    for number in 0..<5000 {
      let descriptor = open(run.library, O_WRONLY | O_CLOEXEC)
      close(descriptor)
      utimensat(AT_FDCWD, run.library, nil, 0)
      if number % 500 == 0 { #expect(try await run.stamp(at: address) == "1") }
      try await Task.sleep(until: began + .milliseconds(number + 1))
    }
    let took = ContinuousClock.now - began
    #expect(run.count("unchanged") <= 1 && run.count("changed") == 0 && run.count("refused") == 0)
    try library.install(2, at: run.library)
    try await run.next("swapped")
    #expect(run.count("swapped") == 1 && run.count("changed") == 1 && run.count("refused") == 0, "in \(took)")
    #expect(
      run.count("unchanged") <= 2,
      "one of the two builds was reported as unchanged twice: \(run.running.outputSoFar)")
    #expect(try await run.stamp(at: address) == "2")
    try await run.end()
  }

  @Test func `a file that is touched all the time causes no flood of events, and the next build is swapped in`()
    async throws
  {
    let (run, library) = try await DevRun.stamped("--listen", "0")
    let address = try await run.start()
    utimensat(AT_FDCWD, run.library, nil, 0)
    try await run.next("unchanged")
    for _ in 0..<3000 {
      let descriptor = open(run.library, O_WRONLY | O_CLOEXEC)
      close(descriptor)
      utimensat(AT_FDCWD, run.library, nil, 0)
    }
    try library.install(2, at: run.library)
    try await run.next("swapped")
    #expect(run.count("swapped") == 1 && run.count("changed") == 1 && run.count("refused") == 0)
    #expect(
      run.count("unchanged") <= 2,
      "one of the two builds was reported as unchanged twice: \(run.running.outputSoFar)")
    #expect(try await run.stamp(at: address) == "2")
    try await run.end()
  }

  @Test func `a build that fails its trial is refused with the reason, and the repaired build is swapped in`()
    async throws
  {
    let (run, library) = try await DevRun.stamped("--listen", "0")
    let address = try await run.start()
    let bad = try await StampedLibrary.inC(.failsCreate)
    try bad.install(2, at: run.library)
    let refused = try await run.next("refused")
    #expect(
      refused.plugins == ["a"] && refused["reason"]?.string?.contains("the moon is missing") == true, "\(refused)")
    #expect(try await run.stamp(at: address) == "1")
    try library.install(3, at: run.library)
    try await run.next("swapped")
    #expect(try await run.stamp(at: address) == "3")
    try await run.end()
  }

  @Test func `if two libraries change together and one is bad, the good one is swapped in`() async throws {
    let library = try await StampedLibrary.inC()
    let bad = try await StampedLibrary.inC(.failsCreate)
    let run = try await DevRun(
      configuration: {
        DevRun.configuration($0, more: #", "b": {"library": "b.so", "config": {"header": "x-stamp-b"}}"#)
      }
    ) { folder in
      try library.install(1, at: folder.path("a.so"))
      try library.install(1, at: folder.path("b.so"))
    }
    try await run.start()
    try bad.install(2, at: run.folder.path("a.so"))
    try library.install(2, at: run.folder.path("b.so"))
    #expect(try await run.next("swapped").plugins == ["b"])
    // The refusal comes before or after the swap, depending on whether dev handles the two changes together.
    try await run.find("refused") { $0.plugins.contains("a") }
    try await run.end()
  }
}
