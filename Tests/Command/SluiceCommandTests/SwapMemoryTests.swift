import Glibc
import SluiceTestKit
import Testing

/// The memory that swaps add to a process. A sanitizer keeps freed memory for a time, so it is not measured with one.
@Suite(.enabled(if: !Sanitizer.isOn)) struct SwapMemoryTests {
  /// The private memory of a process that belongs to no file, in bytes.
  private func anonymousBytes(of process: Int32) throws -> Int {
    var bytes = 0
    var isAnonymous = false
    for line in String(decoding: try FileTree.read("/proc/\(process)/smaps"), as: UTF8.self).split(separator: "\n") {
      let words = line.split(separator: " ")
      if words.count >= 5, words[0].contains("-") {
        isAnonymous = words.count == 5 || words[5] == "[heap]"
      } else if isAnonymous, words.first == "Private_Dirty:", words.count > 1 {
        bytes += (Int(words[1]) ?? 0) << 10
      }
    }
    return bytes
  }

  @Test func `swaps do not leave the contents of libraries in the memory of the process`() async throws {
    let folder = try TemporaryDirectory()
    let socket = folder.path("c.sock")
    let library = try FileTree.read(BuiltProducts.library("static-headers"))
    let paddingBytes = 8 << 20
    func install(_ number: Int) throws {
      // Bytes after the end of the library change nothing but its hash.
      let padding = [UInt8](repeating: UInt8(number), count: paddingBytes)
      let new = try folder.write(library + padding, to: "new.so")
      guard rename(new, folder.path("a.so")) == 0 else { throw TestKitError("rename: \(errno)") }
    }
    try install(0)
    let file = try folder.write(
      """
      {"plugins": {"a": {"library": "a.so"}}, "request": ["a"], "store": "store",
       "swap": {"probation": {"duration": "0s"}}}
      """, to: "c.json")
    let running = try Tool.start("run", "-c", file, "--control", socket)
    try await running.waitForError(containing: "control socket: ")
    var start = 0
    for number in 1...16 {
      if number == 5 { start = try anonymousBytes(of: running.processID) }
      try install(number)
      let swap = try await Command.run(Tool.path, ["ctl", "swap", "--socket", socket], environment: Tool.cleared)
      #expect(swap.status == 0, "\(swap.errorText)")
    }
    let growth = try anonymousBytes(of: running.processID) - start
    #expect(growth < paddingBytes, "12 swaps have added \(growth) bytes")
    running.closeInput()
    #expect(try await running.wait(upTo: Patience.limit).status == 0)
  }
}
