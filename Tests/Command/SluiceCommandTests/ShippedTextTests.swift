import SluiceTestKit
import Testing

@testable import SluiceCommand

/// The man page, the completions and the documentation must agree with the command's table of options.
@Suite struct ShippedTextTests {
  private static let commands = CommandLineTool.commands.map(\.name)

  private func command(_ name: String) throws -> CommandDescription {
    try #require(CommandLineTool.commands.first { $0.name == name })
  }

  /// Returns the text after the line `start`, up to the next line that begins with one of `ends`.
  private func section(_ text: String, from start: String, to ends: [String]) throws -> String {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let first = try #require(lines.firstIndex { $0 == start }, "no line \(start)")
    let rest = lines[(first + 1)...].prefix { line in !ends.contains { line.hasPrefix($0) } }
    return rest.joined(separator: "\n")
  }

  @Test(arguments: [
    ("share/completions/sluice.bash", ["completion", "bash"]), ("share/completions/_sluice", ["completion", "zsh"]),
    ("share/completions/sluice.fish", ["completion", "fish"]), ("share/man/man1/sluice.1", ["help", "--man"]),
  ])
  func `each shipped text is equal to what the command prints`(_ path: String, _ arguments: [String]) async throws {
    let result = try await Tool.run(arguments: arguments)
    #expect(result.status == 0)
    let isEqual = result.outputText == (try FileTree.readText(RepositoryRoot.path(path)))
    #expect(isEqual, "run \"make texts\"")
  }

  @Test func `completion refuses a shell for which there are no completions`() async throws {
    let result = try await Tool.run("completion", "tcsh")
    #expect(result.status == 2 && result.errorText.contains("expected bash, zsh or fish, found \"tcsh\""))
  }

  /// The page of `sluice plugin new` is that of all commands of `plugin`; it has a section for each of them.
  @Test(arguments: commands) func `the documentation names each option of a command`(_ name: String) throws {
    let words = name.split(separator: " ")
    let page = try FileTree.readText(RepositoryRoot.path("docs/command/\(words[0]).md"))
    let common = try section(page, from: "# sluice \(words[0])", to: words.count > 1 ? ["## "] : [])
    let text = words.count > 1 ? try common + section(page, from: "## sluice \(name)", to: ["## "]) : common
    for option in try command(name).options where option.name != "help" {
      #expect(text.contains("`--\(option.name)"), "\(option.name)")
    }
  }

  @Test(arguments: commands) func `the first page of the documentation lists a command`(_ name: String) throws {
    let page = try FileTree.readText(RepositoryRoot.path("docs/command/README.md"))
    #expect(page.contains("| [`sluice \(name)`]("))
  }

  private static let pluginConfigurations = DocumentExample.all(in: "json").filter {
    $0.page.hasPrefix("plugins/") && $0.words.last == "configuration"
  }

  @Test(arguments: pluginConfigurations)
  func `the configuration that a plugin's page shows passes the check`(_ example: DocumentExample) async throws {
    let folder = try TemporaryDirectory()
    let text = example.text.replacing(/"(?:plugins\/)?lib([a-z0-9-]+)\.so"/) {
      "\"\(BuiltProducts.library(String($0.output.1)))\""
    }
    .replacing("/var/cache/me/http", with: folder.path("http"))
    let names = text.matches(of: /"env": "([A-Z_]+)"/).map { String($0.output.1) }
    let environment = Dictionary(names.map { ($0, "not-a-real-secret") }) { first, _ in first }
    let result = try await Tool.run("check", "-c", try folder.write(text, to: "c.json"), environment: environment)
    #expect(result.status == 0, "\(example): \(result.errorText)")
  }

  @Test func `no option is listed twice, and no letter belongs to two options`() {
    for command in CommandLineTool.commands {
      #expect(Set(command.options.map(\.name)).count == command.options.count)
      let letters = command.options.compactMap(\.letter)
      #expect(Set(letters).count == letters.count)
    }
  }

  @Test(arguments: [
    ("snd", ""), ("ru", "run"), ("plugin i", "inspect"), ("run --conc", "--concurrency"),
    ("plugin inspect --j", "--json"), ("plugin build -c d", "debug"), ("plugin build --configuration r", "release"),
    ("plugin new -l s", "swift"), ("plugin new -p /us", "/usr"), ("run -i /us", "/usr"),
    ("run --log-level w", "warning"), ("dev -i /us", "/usr"),
    ("send -i /us", ""), ("attach --ex", "--explain"), ("attach -c /us", "/usr"), ("attach -c f /us", "/usr"),
    ("attach -c f -- prog --explain /us", "/usr"), ("attach -c f prog --ex", ""),
  ])
  func `bash completes incomplete words`(_ typed: String, _ completed: String) async throws {
    let words = (["sluice"] + typed.split(separator: " ").map(String.init)).joined(separator: " ")
    let script = """
      source \(RepositoryRoot.path("share/completions/sluice.bash"))
      COMP_WORDS=(\(words)); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _sluice; echo "${COMPREPLY[*]}"
      """
    #expect(try await Command.run("bash", ["-c", script]).outputText.trimmed == completed)
  }
}
