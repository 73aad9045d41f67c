import Glibc
import SluiceJSON
import SluiceTestKit
import Testing

/// `sluice plugin validate`: what misbehaves fails the check that is meant for it.
struct ValidateTests {
  private func validate(_ path: String, _ more: String...) async throws -> CommandResult {
    var command = Command(Tool.path, ["plugin", "validate", path, "--seed", "1"] + more, environment: Tool.cleared)
    command.environment["SWIFT_BACKTRACE"] = "enable=no"
    let running = try command.start()
    running.writeAndClose([])
    return try await running.wait(upTo: Patience.limit)
  }

  private func compile(
    _ behaviour: String, _ defines: [String] = [], flags: [String] = []
  ) async throws -> PluginCompiler.Product {
    let product = try await PluginCompiler.compile(behaviour, defines: defines, flags: flags)
    chmod(product.path, 0o755)
    return product
  }

  @Test(arguments: [
    ("misbehaves-in-activity", "PRINTS", "quiet-output", "standard output"),
    ("misbehaves-in-activity", "LEAVES_THREAD", "activate-deactivate", "10 threads"),
    ("misbehaves-in-activity", "LEAVES_FILE", "activate-deactivate", "/dev/null"),
    ("misbehaves-in-activity", "HANDLES_SIGNAL", "signal-handlers", "SIGUSR1"),
    ("misbehaves-in-activity", "SLOW_DEACTIVATE", "deactivate-in-time", "0.5 seconds"),
    ("misbehaves-in-activity", "NEVER_RESUMES", "suspend-resume", "did not resume"),
    ("misbehaves-in-activity", "CRASHES_ON_BYTES", "exchanges", "SIGABRT while requests went through it"),
    ("misbehaves-in-activity", "OPENS_IN_CREATE", "create-is-quiet", "activate is for that"),
    ("misbehaves-in-activity", "SILENT_REFUSAL", "create-any-config", "gave no reason"),
    ("misbehaves-in-activity", "OVERLAPS", "several-loops", "SIGABRT"),
    ("misbehaves-in-activity", "INVENTS_TABLES", "extensions", "sluice."),
    ("misbehaves-in-activity", "EXPORTS_MORE", "exports-only-entry", "stray_symbol"),
    ("ends-badly", "UNUSED", "exit-functions", "crashes with SIGABRT in a destructor of the library"),
    ("ends-badly", "ATEXIT", "exit-functions", "crashes with SIGABRT in a function that it registered with atexit"),
    ("ends-badly", "DOES=hang()", "exit-functions", "does not return in a destructor of the library"),
    ("ends-badly", "DOES=_exit(7)", "exit-functions", "ends the process with status 7 in a destructor"),
    ("breaks-headers", "UNUSED", "no-violations", "malformed argument"),
    ("resumes-twice", "UNUSED", "suspend-resume", "malformed argument"),
    ("keeps-exchange", "UNUSED", "no-violations", "after the call"),
    ("uses-other-thread", "UNUSED", "no-violations", "runs no call"),
    ("own-note", "UNUSED", "note-matches-entry", "2.3.4"),
    ("keeps-state", "FORGET", "state-round-trip", "another state"),
    ("tests-itself", "VALUE=\"green\"", "self-tests", "green"),
    ("unique-symbol", "UNUSED", "swap-hazards", "fixture_unique"),
    ("constructor-opens-files", "UNUSED", "load-is-quiet", "no descriptor"),
    ("constructor-exits", "UNUSED", "load-is-quiet", "status \(Sanitizer.statusOfExitWhileLoading)"),
    ("constructor-hangs", "UNUSED", "load-is-quiet", "while it was loaded"),
    ("entry-returns-null", "UNUSED", "entry-pure", ""),
    ("breaks-lifecycle", "ACTIVATE=SLUICE_FAILED", "exchanges", "the moon is down"),
  ])
  func `C7 a plugin that misbehaves fails the check for that`(
    _ behaviour: String, _ define: String, _ check: String, _ reason: String
  ) async throws {
    let product = try await compile(behaviour, [define])
    let deadline = behaviour == "constructor-hangs" ? "500ms" : "120s"
    let result = try await validate(product.path, "--only", check, "--json", "--deadline", deadline)
    withExtendedLifetime(product) {}
    let document = try #require(try result.documents.first, "\(result.errorText)")
    #expect(result.status == 1)
    #expect(document["check"]?.string == check)
    #expect(document["outcome"]?.string == "failed")
    #expect(document["reason"]?.string?.contains(reason) == true, "\(document)")
  }

  @Test(arguments: [
    ("misbehaves-in-activity", "UNUSED"), ("keeps-state", "UNUSED"), ("tests-itself", "UNUSED"),
    ("is-serial", "UNUSED"), ("resumes-by-timer", "UNUSED"),
  ])
  func `C7 a plugin that keeps the rules passes every check`(_ behaviour: String, _ define: String) async throws {
    let product = try await compile(behaviour, [define])
    let result = try await validate(product.path, "--json", "--deadline", "120s")
    withExtendedLifetime(product) {}
    let failed = try result.documents.filter { $0["outcome"]?.string == "failed" }
    #expect(failed.isEmpty, "\(failed)")
    #expect(result.status == 0)
  }

  @Test(arguments: [
    ("bearer-auth", #"{"token": "t0k", "hosts": ["example.com"]}"#),
    ("json-edit", #"{"request": [{"op": "set", "path": "/seen", "value": true}]}"#),
    ("static-headers", #"{"request": {"x-a": "1"}}"#), ("access-log", #"{"output": "/dev/null"}"#),
    ("cache", "{}"), ("error-enrichment", "{}"), ("traffic-metrics", "{}"),
    (
      "oauth-refresh",
      #"{"tokenEndpoint": "https://id.example.com/token", "clientID": "abc", "clientSecret": "s3cret", "hosts": ["example.com"]}"#
    ),
  ])
  func `C7 the shipped plugins pass every check`(_ name: String, _ configuration: String) async throws {
    let result = try await validate(
      BuiltProducts.library(name), "--config", configuration, "--deadline", "120s")
    #expect(result.status == 0, "\(result.outputText)\(result.errorText)")
    #expect(result.outputText.contains(" 0 failed"))
  }

  @Test func `the checks are listed with their names and descriptions`() async throws {
    let documents = try await Tool.run("plugin", "validate", "--list", "--json").documents
    let names = documents.compactMap { $0["check"]?.string }
    #expect(names.count > 20)
    #expect(Set(names).count == names.count)
    #expect(documents.allSatisfy { $0["description"]?.string?.isEmpty == false })
  }

  @Test func `a configuration that the plugin refuses ends the run before any check`() async throws {
    let path = BuiltProducts.library("bearer-auth")
    let schema = try await validate(path, "--config", #"{"token": 7}"#)
    #expect(schema.status == 2)
    #expect(schema.errorText.contains("token"))
    #expect(schema.outputText.isEmpty)
    let none = try await validate(path, "--only", "exchanges")
    #expect(none.status == 0)
    #expect(none.outputText.contains("give one with --config"))
  }

  @Test func `wrong usage ends with 2, and a library that cannot be used with 3`() async throws {
    let folder = try TemporaryDirectory()
    let path = try folder.write("no library", to: "liba.so")
    chmod(path, 0o755)
    #expect(try await validate(path).status == 3)
    #expect(try await validate(folder.path("none.so")).status == 2)
    let misspelled = try await validate(path, "--only", "exchangs")
    #expect(misspelled.status == 2)
    #expect(misspelled.errorText.contains("did you mean exchanges?"))
    #expect(try await validate(path, "--config", "{").status == 2)
    #expect(try await validate(path, "--config", folder.path("none.json")).status == 2)
    #expect(try await Tool.run("plugin", "validate").status == 2)
  }
}
