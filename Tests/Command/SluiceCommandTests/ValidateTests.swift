import Glibc
import SluiceJSON
import SluiceTestKit
import Testing

/// `sluice plugin validate`: for each misbehaviour there is a check that fails.
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
    ("misbehaves-in-activity", "KEEPS_LIST", "activate-deactivate", "did not release a list of hosts"),
    ("misbehaves-in-activity", "HANDLES_SIGNAL", "signal-handlers", "SIGUSR1"),
    ("acts", #"IN_LOAD=chdir("/")"#, "process-state", #"to "/""#),
    ("acts", "IN_LOAD=close(0)", "process-state", "it closed descriptor 0 (standard input)"),
    ("acts", "IN_CREATE=close(2)", "process-state", "in create, it closed descriptor 2 (standard error)"),
    ("acts", "IN_ACTIVATE=dup2(0, 2)", "process-state", "in activate, it replaced descriptor 2 (standard error)"),
    ("acts", "IN_REQUEST=close(1)", "process-state", "in on_request, it closed descriptor 1 (standard output)"),
    (
      "acts", "IN_REQUEST=do{for(int i=5;i<64;i++)close(i);}while(0)", "process-state",
      "closed descriptors that it had not opened while requests went through it"
    ),
    ("acts", "IN_CREATE=umask(0)", "process-state", "in create, it changed the umask from"),
    ("acts", #"IN_ACTIVATE=setlocale(LC_ALL, "C.UTF-8")"#, "process-state", "in activate, it changed the locale"),
    (
      "acts", "IN_REQUEST=fesetround(FE_UPWARD)", "process-state",
      "in on_request, it changed the rounding or flush mode"
    ),
    (
      "acts", "IN_REQUEST=__builtin_ia32_ldmxcsr(0x9fc0)", "process-state",
      "in on_request, it changed the rounding or flush"
    ),
    (
      "acts", "IN_CREATE=BLOCK", "process-state",
      "in create, it changed the signal mask of the host's thread: SIGUSR1"
    ),
    ("misbehaves-in-activity", "SLOW_DEACTIVATE", "deactivate-in-time", "0.5 seconds"),
    ("misbehaves-in-activity", "NEVER_RESUMES", "suspend-resume", "did not resume"),
    ("misbehaves-in-activity", "CRASHES_ON_BYTES", "exchanges", "SIGABRT while requests went through it"),
    ("misbehaves-in-activity", "OPENS_IN_CREATE", "create-is-quiet", "do that in activate"),
    ("misbehaves-in-activity", "SILENT_REFUSAL", "create-any-config", "gave no reason"),
    ("misbehaves-in-activity", "OVERLAPS", "several-loops", "SIGABRT"),
    ("misbehaves-in-activity", "INVENTS_TABLES", "extensions", "sluice."),
    ("misbehaves-in-activity", "EXPORTS_MORE", "exports-only-entry", "stray_symbol"),
    ("misbehaves-in-activity", "WRITES_EARLY", "phases", "(status_set, in on_request); ask may_call first"),
    (
      "misbehaves-in-activity", "NEEDS_TIMERS", "least-host",
      "no optional feature: no timers, after it was refused the table sluice.timers/1. If it is useless there, "
        + "add at file scope: SLUICE_REQUIRES(timers);"
    ),
    (
      "misbehaves-in-activity", "NEEDS_REWRITE", "least-host",
      "a plain request fails, after it was refused method_set. If it is useless there, add at file scope: "
        + "SLUICE_REQUIRES(rewrite);"
    ),
    (
      "misbehaves-in-activity", "USES_TIMERS", "least-host",
      "SIGSEGV in create, after the host refused it the table sluice.timers/1. If it is useless there, add"
    ),
    (
      "misbehaves-in-activity", "USES_TIMERS_LATER", "least-host",
      "SIGSEGV while requests went through it, after the host refused it the table sluice.timers/1. If it is useless"
    ),
    (
      "misbehaves-in-activity", "ONLY_ISSUES", "least-host",
      "no optional feature: none of its functions would be called. If it is useless there, add at file scope: "
        + "SLUICE_REQUIRES(hops);"
    ),
    ("has-places", "SILENT_REFUSAL", "places", "gave no reason"),
    ("ends-badly", "UNUSED", "exit-functions", "crashes with SIGABRT in a destructor of the library"),
    ("ends-badly", "ATEXIT", "exit-functions", "crashes with SIGABRT in a function that it registered with atexit"),
    ("ends-badly", "DOES=hang()", "exit-functions", "does not return in a destructor of the library"),
    ("ends-badly", "DOES=_exit(7)", "exit-functions", "ends the process with status 7 in a destructor"),
    ("breaks-headers", "UNUSED", "no-violations", "malformed argument; it was ignored ("),
    ("resumes-twice", "UNUSED", "suspend-resume", "malformed argument"),
    ("keeps-exchange", "UNUSED", "no-violations", "after the call"),
    ("uses-other-thread", "UNUSED", "no-violations", "not in a call of the host"),
    ("own-note", "UNUSED", "note-matches-entry", "2.3.4"),
    ("keeps-state", "FORGET", "state-round-trip", "differs from the state"),
    ("tests-itself", "VALUE=\"green\"", "self-tests", "green"),
    ("unique-symbol", "UNUSED", "swap-hazards", "fixture_unique"),
    ("starts-runtime-threads", "UNUSED", "swift-runtime", "it uses Dispatch"),
    ("starts-runtime-threads", "SLEEPS", "swift-runtime", "it uses Task.sleep"),
    ("constructor-opens-files", "UNUSED", "load-is-quiet", "all file descriptors"),
    ("constructor-exits", "UNUSED", "load-is-quiet", "status \(Sanitizer.statusOfExitWhileLoading)"),
    ("constructor-hangs", "UNUSED", "load-is-quiet", "while it was loaded"),
    ("entry-returns-null", "UNUSED", "entry-pure", ""),
    ("breaks-lifecycle", "ACTIVATE=SLUICE_STATUS_FAILED", "exchanges", "the moon is down"),
  ])
  func `a plugin that misbehaves fails the corresponding check`(
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

  @Test func `references in the configuration have their values, and a pipeline is no configuration of a plugin`()
    async throws
  {
    let folder = try TemporaryDirectory()
    let library = BuiltProducts.library("bearer-auth")
    _ = try folder.write("secret\n", to: "token")
    let file = try folder.write(#"{"token": {"file": "token"}, "hosts": ["a.example"]}"#, to: "config.json")
    let only = ["--only", "create-is-quiet"]
    #expect(try await Tool.run(arguments: ["plugin", "validate", library, "--config", file] + only).status == 0)
    let missing = try await Tool.run(
      arguments: ["plugin", "validate", library, "--config", #"{"token": {"env": "SLUICE_NOT_SET"}}"#] + only)
    #expect(missing.status == 2 && missing.errorText.contains("\"SLUICE_NOT_SET\" is not set"), "\(missing.errorText)")
    let pipeline = try folder.write(#"{"plugins": {"a": {"builtin": "headers"}}}"#, to: "pipeline.json")
    let wrong = try await Tool.run(arguments: ["plugin", "validate", library, "--config", pipeline] + only)
    #expect(wrong.status == 2 && wrong.errorText.contains("give the \"config\" of the plugin in it"))
  }

  /// The arguments are the phase in which the plugin writes, and what the reason says about it. All functions of
  /// `sluice.body/1` for one side are one phase.
  @Test(arguments: [
    ("issue", "in on_issue)"), ("redirect", "in on_redirect)"), ("challenge", "in on_challenge)"),
    ("response", "in on_response)"), ("failure", "in on_failure)"), ("informational", "in on_informational)"),
    ("event", "in on_event)"), ("request piece", "on_end (request))"), ("request end", "on_end (request))"),
    ("piece", "on_end (response))"), ("end", "on_end (response))"), ("trailer", "on_end (response))"),
  ])
  func `a call that is refused is reported with the phase in which it was made`(
    _ phase: String, _ words: String
  ) async throws {
    let product = try await compile("writes-where-refused", ["PHASE=\"\(phase)\""])
    let result = try await validate(product.path, "--only", "phases", "--json", "--deadline", "120s")
    withExtendedLifetime(product) {}
    let document = try #require(try result.documents.first, "\(result.errorText)")
    #expect(result.status == 1)
    #expect(document["outcome"]?.string == "failed")
    let reason = document["reason"]?.string ?? ""
    #expect(reason.contains("(method_set, in ") && reason.contains("\(words); ask may_call first"), "\(reason)")
  }

  @Test(arguments: [
    ("writes-where-refused", "UNUSED"), ("misbehaves-in-activity", "UNUSED"), ("keeps-state", "UNUSED"),
    ("tests-itself", "UNUSED"), ("is-serial", "UNUSED"), ("resumes-by-timer", "UNUSED"), ("has-places", "UNUSED"),
  ])
  func `a plugin that follows the rules passes every check`(_ behaviour: String, _ define: String) async throws {
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
    ("cache", "{}"), ("otlp", "{}"), ("error-enrichment", "{}"), ("traffic-metrics", "{}"),
    (
      "oauth-refresh",
      #"{"tokenEndpoint": "https://id.example.com/token", "clientID": "abc", "clientSecret": "s3cret", "hosts": ["example.com"]}"#
    ),
    (
      "aws-sigv4",
      #"{"accessKeyID": "id", "secretAccessKey": "s3cret", "region": "r", "service": "s3", "hosts": ["example.com"]}"#
    ),
  ])
  func `the shipped plugins pass every check`(_ name: String, _ configuration: String) async throws {
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

  @Test func `if the plugin refuses its configuration, the run ends before any check`() async throws {
    let path = BuiltProducts.library("bearer-auth")
    let schema = try await validate(path, "--config", #"{"token": 7}"#)
    #expect(schema.status == 2)
    #expect(schema.errorText.contains("token"))
    #expect(schema.outputText.isEmpty)
    let derived = try await validate(path, "--only", "exchanges")
    #expect(derived.status == 0, "\(derived.outputText)")
    #expect(derived.outputText.contains("passed  exchanges"), "\(derived.outputText)")
  }

  @Test func `wrong usage ends with status 2, and a library that cannot be used ends with status 3`() async throws {
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

  /// Compiles a plugin with this schema. Its `create` requires that `key` is `open sesame`.
  private func wanting(_ schema: String) async throws -> PluginCompiler.Product {
    let literal = schema.replacing("\"", with: "\\\"")
    let product = try await PluginCompiler.compile(
      source: """
        #include <sluice/sluice.h>
        static sluice_status create(const sluice_host *host, json_t *config, void **instance, sluice_error *error) {
          const char *key = json_string_value(json_object_get(config, "key"));
          if (!key || strcmp(key, "open sesame") != 0) return sluice_error_set(error, "the key does not fit");
          *instance = (void *)host;
          return SLUICE_STATUS_OK;
        }
        static const sluice_interceptor table = SLUICE_SIZED(sluice_interceptor);
        SLUICE_EXTENSIONS(extension, {SLUICE_INTERCEPTOR_ID, &table});
        SLUICE_PLUGIN("wanting", "1.0.0", .summary = "A fixture", .config_schema = "\(literal)", .create = create,
                      .destroy = sluice_destroy_nothing, .extension = extension);
        """, name: "wanting")
    chmod(product.path, 0o755)
    return product
  }

  @Test func `without a configuration, validate tries the smallest one that the schema allows`() async throws {
    let schema = ##"""
      {"type": "object", "required": ["key"], "properties": {"key": {"$ref": "#/definitions/k"}}, \##
      "definitions": {"k": {"enum": ["open sesame", "b"]}}}
      """##
    let product = try await wanting(schema)
    let result = try await validate(product.path, "--only", "create-repeatedly", "--only", "exchanges", "--strict")
    withExtendedLifetime(product) {}
    #expect(result.status == 0 && result.outputText.contains("2 passed"), "\(result.outputText)")
    #expect(result.outputText.contains(#"derived from the schema: {"key":"open sesame"}"#), "\(result.outputText)")
  }

  @Test func `a check that is skipped without a configuration fails only with --strict, and says what was tried`()
    async throws
  {
    let product = try await wanting(
      #"{"type": "object", "required": ["key"], "properties": {"key": {"type": "string"}}}"#)
    let lenient = try await validate(product.path, "--only", "exchanges")
    #expect(lenient.status == 0 && lenient.outputText.contains("1 skipped"), "\(lenient.outputText)")
    #expect(
      lenient.outputText.contains(#"{"key":"a"}, was refused"#) && lenient.outputText.contains("the key does not fit"),
      "\(lenient.outputText)")
    let strict = try await validate(product.path, "--only", "exchanges", "--strict")
    #expect(strict.status == 1)
    let absent = try await validate(
      product.path, "--config", #"{"key": "open sesame"}"#, "--only", "state-any", "--only", "notifications", "--strict"
    )
    #expect(absent.status == 0 && absent.outputText.contains("2 absent"), "an absent feature is not a failure")
    withExtendedLifetime(product) {}
  }

  @Test func `validate answers call-outs, so a plugin that waits for a token is checked completely`() async throws {
    let configuration =
      #"{"tokenEndpoint": "https://id.example.com/token", "clientID": "abc", "clientSecret": "s3cret", "hosts": ["example.com"]}"#
    let path = BuiltProducts.library("oauth-refresh")
    let names = ["--only", "suspend-resume", "--json"]
    func verdict(_ more: String...) async throws -> JSONValue? {
      let arguments = ["plugin", "validate", path, "--seed", "1", "--config", configuration, "--deadline", "120s"]
      let result = try await Command.run(
        Tool.path, arguments + names + more, environment: Tool.cleared, limit: Patience.limit)
      return try result.documents.first
    }
    #expect(try await verdict()?["outcome"]?.string == "passed")
    let refused = try await verdict("--answer", #"{"status": 400, "body": {"json": {"error": "invalid_client"}}}"#)
    #expect(refused?["outcome"]?.string == "passed", "\(String(describing: refused))")
    #expect(try await validate(path, "--answer", #"{"status": "x"}"#).status == 2)
  }

  @Test func `a stage that waits for a call-out is suspended, and a given answer lets it resume`() async throws {
    let product = try await PluginCompiler.compile(
      source: """
        #include "\(RepositoryRoot.path("Tests/Fixtures/Plugins/stage.h"))"
        typedef struct lookup { const sluice_host *host; sluice_token token; } lookup;
        static void on_found(void *context, const sluice_call_result *result) {
          lookup *self = context;
          json_t *body = json_object_get(result->response, "body");
          const char *text = json_string_value(json_object_get(body, "text"));
          // If the answer has no token, the stage waits forever.
          if (text && strstr(text, "access_token")) self->host->resume(self->host, self->token, SLUICE_VERDICT_CONTINUE);
          free(self);
        }
        static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
          const sluice_host *host = host_of(instance);
          const sluice_callout *callout = host->extension(host, SLUICE_CALLOUT_ID);
          lookup *self = calloc(1, sizeof *self);
          self->host = host;
          if (host->exchange->suspend(exchange, &self->token) != SLUICE_STATUS_OK) return free(self), SLUICE_VERDICT_FAIL;
          json_t *request = json_pack("{s:s}", "url", "https://id.example.com/token");
          sluice_status status = callout->start(host, request, NULL, on_found, self, NULL);
          json_decref(request);
          if (status == SLUICE_STATUS_OK) return SLUICE_VERDICT_SUSPENDED;
          free(self);
          return sluice_fail(host, exchange, "lookup", "the call was refused");
        }
        static const sluice_interceptor interceptor = SLUICE_TABLE(sluice_interceptor, .on_request = on_request);
        STAGE_PLUGIN(SLUICE_INTERCEPTOR_ID, interceptor);
        """, name: "waits-for-token")
    chmod(product.path, 0o755)
    let canned = try await validate(product.path, "--only", "suspend-resume", "--strict", "--deadline", "120s")
    #expect(canned.status == 0 && canned.outputText.contains("1 passed"), "\(canned.outputText)")
    let given = try await validate(
      product.path, "--only", "suspend-resume", "--answer", #"{"status": 503}"#, "--deadline", "120s")
    #expect(given.status == 1 && given.outputText.contains("did not resume"), "\(given.outputText)")
    withExtendedLifetime(product) {}
  }
}
