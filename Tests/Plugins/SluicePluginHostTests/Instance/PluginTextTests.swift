import CSluice
import SluiceMessages
import SluicePipeline
import SluiceTestKit
import SluiceTestPipeline
import Testing

@testable import SluicePluginHost

/// Texts of plugins have a maximum length, and stay on one line.
@Suite struct PluginTextTests {
  private func message(_ stage: StageFixture) throws -> (log: String, error: TransactionError) {
    let result = try stage.run(StageFixture.request())
    return (try #require(stage.log.value.last?.message), try #require(result.error))
  }

  @Test func `a line break or an escape in a log line is shown escaped and has no effect`() async throws {
    let (log, error) = try message(await StageFixture("says-too-much"))
    let shown = #"down\nsluice: error: the host is down\r\u{1B}[2J\u{2028}end"# + "\u{FFFD}"
    #expect(log == shown)
    #expect(error.description == "odd: stage \"stage\": \(shown)")
    #expect(error.message == "down\nsluice: error: the host is down\r\u{1B}[2J\u{2028}end\u{FFFD}")
  }

  @Test func `a message that is too long is cut off between two characters, and ends with an ellipsis`() async throws {
    let stage = try await StageFixture("says-too-much", defines: ["MESSAGE=\"\u{20AC}\"", "AGAIN=300000"])
    let (log, error) = try message(stage)
    #expect(log.utf8.count <= 8 << 10 && log.utf8.count > (8 << 10) - 6)
    #expect(error.message.utf8.count <= 4 << 10 && error.message.utf8.count > (4 << 10) - 6)
    for text in [log, error.message] {
      #expect(text.hasSuffix("\u{20AC}…") && text.dropLast().allSatisfy { $0 == "\u{20AC}" })
    }
  }

  @Test func `escapes do not make a line longer than its limit`() async throws {
    let (log, error) = try message(
      await StageFixture("says-too-much", defines: [#"MESSAGE="\x1b""#, "AGAIN=300000"]))
    #expect(log.utf8.count <= 8 << 10 && log.hasPrefix(#"\u{1B}\u{1B}"#) && log.hasSuffix("…"))
    #expect(error.message.utf8.count <= 4 << 10)
  }

  @Test(arguments: [String(repeating: "c", count: 65), "", "Odd", "odd\nsluice"])
  func `an invalid code becomes stage_failed, and is a violation`(_ code: String) async throws {
    let escaped = code.replacing("\n", with: #"\n"#)
    let stage = try await StageFixture("says-too-much", defines: ["CODE=\"\(escaped)\""])
    let result = try stage.run(StageFixture.request())
    #expect(result.error?.code == StageFailure.defaultCode)
    #expect(stage.instance.violations[.invalidArgument] == 1)
    #expect(stage.warnings.last?.contains("1 to 64") == true, "\(stage.warnings)")
  }

  @Test func `a code of 64 bytes is accepted`() async throws {
    let code = String(repeating: "c", count: 64)
    let result = try await StageFixture("says-too-much", defines: ["CODE=\"\(code)\""]).run(StageFixture.request())
    #expect(result.error?.code.rawValue == code)
  }

  @Test func `a reason that fills its buffer is cut off between two characters, and ends with an ellipsis`() {
    let (_, message) = PluginErrorBuffer.collect { error in
      let capacity = Int(error.pointee.capacity)
      for index in 0..<capacity - 1 { error.pointee.message[index] = CChar(bitPattern: [0xE2, 0x82, 0xAC][index % 3]) }
    }
    #expect(message?.hasSuffix("\u{20AC}…") == true, "\(message ?? "nil")")
    #expect(message?.dropLast().allSatisfy { $0 == "\u{20AC}" } == true)
  }
}
