import SluiceJSON
import SluiceTestKit
import Testing

/// Texts of plugins in the output of the command.
@Suite struct PluginWordsTests {
  @Test func `a plugin's text cannot begin a line on standard error`() async throws {
    let plugin = try await PluginCompiler.compile("says-too-much")
    let url = "http://127.0.0.1:1/"
    let sent = try await Tool.run("send", "--plugin", plugin.path, url)
    #expect(sent.status == 1)
    let run = try await Tool.run("run", "--plugin", plugin.path, input: "{\"url\": \"\(url)\"}\n")
    for text in [sent.errorText, run.errorText] {
      #expect(text.contains(#"sluice: warning: plugin "fixture": down\nsluice: error: the host is down\r\u{1B}[2J"#))
      let forged = text.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("sluice: error") }
      #expect(forged.isEmpty, "\(text)")
      #expect(!text.contains("\u{1B}"))
    }
    // A document contains the original text.
    let document = try #require(try run.documents.first)
    #expect(document.errorMessage == "down\nsluice: error: the host is down\r\u{1B}[2J\u{2028}end\u{FFFD}")
  }
}
