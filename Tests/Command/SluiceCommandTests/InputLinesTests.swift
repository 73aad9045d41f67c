import SluiceTestKit
import Testing

@testable import SluiceCommand

/// Reading a file line by line.
@Suite struct InputLinesTests {
  private func lines(of text: String, limitBytes: Int = 1 << 20) throws -> [String] {
    let folder = try TemporaryDirectory()
    let lines = try InputLines(path: try folder.write(text, to: "in"), limitBytes: limitBytes)
    var all: [String] = []
    while true {
      switch lines.next() {
      case .text(let bytes): all.append(String(decoding: bytes, as: UTF8.self))
      case .tooLong: all.append("(too long)")
      case .end: return all
      case .failure(let error): throw error
      }
    }
  }

  @Test func `a line ends with LF or CR LF, and the last line needs no line end`() throws {
    #expect(try lines(of: "a\r\nb\n\nc") == ["a", "b", "", "c"])
    #expect(try lines(of: "a\n") == ["a"])
    #expect(try lines(of: "").isEmpty)
  }

  @Test func `a line longer than the limit is skipped, and the next line is complete`() throws {
    let long = String(repeating: "x", count: 3_000_000)
    #expect(try lines(of: "a\n\(long)\nb\n\(long)", limitBytes: 1_000_000) == ["a", "(too long)", "b", "(too long)"])
  }

  @Test(arguments: [11, 20, 262_143, 262_144, 262_145])
  func `a last line longer than the limit is reported, even if it has no line end`(
    _ count: Int
  ) throws {
    let long = String(repeating: "x", count: count)
    #expect(try lines(of: long, limitBytes: 10) == ["(too long)"])
    #expect(try lines(of: "a\n\(long)", limitBytes: 10) == ["a", "(too long)"])
    #expect(try lines(of: "a\n\(long)\n", limitBytes: 10) == ["a", "(too long)"])
  }

  @Test func `lines that end near the end of a block are complete`() throws {
    let texts = (262_140...262_150).map { String(repeating: "y", count: $0) } + ["z"]
    #expect(try lines(of: texts.joined(separator: "\n")) == texts)
  }
}
