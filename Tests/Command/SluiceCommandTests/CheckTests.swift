import Glibc
import SluiceJSON
import SluiceTestKit
import SluiceTestServers
import Testing

/// `check`, `run` and `send` refuse a wrong configuration, and name its file, line and key, and what was expected.
@Suite struct CheckTests {
  @Test(arguments: [
    ("{\n  \"transprot\": {}\n}", ":2: transprot: unknown key \"transprot\"; did you mean \"transport\"?"),
    (
      "{\n  \"transport\": {\n    \"loops\": \"two\"\n  }\n}",
      ":3: transport.loops: expected an integer, found a string"
    ),
    ("{\n  \"plugins\": {\"a\": {\"library\": \"x.so\"},\n    \"a\": {\"library\": \"y.so\"}}\n}", "occurs twice"),
    (
      "{\"plugins\":\n {\"a\": {\"library\": \"x.so\", \"config\": {\"token\": {\"env\": \"NOT_SET_ANYWHERE\"}}}}}",
      ":2: plugins.a.config.token: the environment variable \"NOT_SET_ANYWHERE\" is not set"
    ),
    (
      "{\"plugins\":\n {\"h\": {\"builtin\": \"headers\", \"config\": {\"host\": [\"a\"]}}}}",
      ":2: plugins.h.config.host: unknown key \"host\"; did you mean \"hosts\"?"
    ),
    (
      "{\"plugins\":\n {\"h\": {\"builtin\": \"headers\", \"config\": {\"sampler\": {\"type\": \"on\"}}}}}",
      ":2: plugins.h.config.sampler.type: expected one of \"always_on\", "
    ),
    ("{\n \"request\": [\"nobody\"]\n}", ":2: request[0]: no plugin is named \"nobody\""),
    ("{\"deadline\": \"soon\"}", ":1: deadline: expected a duration"), ("{", "not JSON"),
  ])
  func `each mistake is reported with its place and what was expected`(_ text: String, _ message: String) async throws {
    let folder = try TemporaryDirectory()
    let file = try folder.write(text, to: "sluice.json")
    for command in [["check", "-c", file], ["run", "-c", file], ["send", "-c", file, "http://127.0.0.1:1/"]] {
      let result = try await Command.run(Tool.path, command)
      #expect(result.status == 2)
      #expect(result.errorText.hasPrefix("sluice: \(file)"))
      #expect(result.errorText.contains(message), "\(result.errorText)")
      #expect(result.outputText.isEmpty)
    }
  }

  @Test func `check reads the files of transport_tls, and says why they cannot be used`() async throws {
    let certificates = try await TestCertificates.shared()
    let folder = try TemporaryDirectory()
    let text = try folder.write("no certificate\n", to: "a.txt")
    let (client, other) = (certificates.client, certificates.clientRSA)
    let pipe = folder.path("pipe")
    try #require(mkfifo(pipe, 0o600) == 0)
    for (tls, words) in [
      (#""ca": "\#(certificates.authority)", "cert": "\#(client.certificate)", "key": "\#(client.key)""#, nil),
      (
        #""cert": "\#(client.certificate)", "key": "\#(other.key)""#,
        "transport.tls: cannot use \(client.certificate) and \(other.key): "
      ),
      (#""cert": "\#(text)", "key": "\#(client.key)""#, "transport.tls.cert and transport.tls.key must name a PEM"),
      (#""ca": "\#(text)""#, "transport.tls.ca must name a readable PEM file"),
      (#""ca": "\#(pipe)""#, nil),
      (#""ca": "/nonexistent""#, "transport.tls.ca: cannot read /nonexistent: No such file or directory"),
    ] {
      let file = try folder.write(#"{"transport": {"tls": {\#(tls)}}}"#, to: "c.json")
      let result = try await Tool.run("check", "-c", file)
      #expect(result.status == (words == nil ? 0 : 2))
      if let words { #expect(result.errorText.contains(words), "\(result.errorText)") }
    }
  }

  @Test func `a missing library is reported as a wrong configuration`() async throws {
    let folder = try TemporaryDirectory()
    let file = try folder.write(#"{"plugins": {"a": {"library": "missing.so"}}, "request": ["a"]}"#, to: "c.json")
    let result = try await Tool.run("check", "-c", file)
    #expect(result.status == 2)
    #expect(result.errorText.contains("missing.so"))
  }

  @Test func `an invalid configuration at a place in a stage list is refused, and plugin and place are named`()
    async throws
  {
    let folder = try TemporaryDirectory()
    let file = try folder.write(
      """
      {"plugins": {"fixed": {"library": "\(BuiltProducts.library("static-headers"))"}},
       "request": ["fixed", {"plugin": "fixed", "config": {"request": {"te": "s3cret"}}}]}
      """, to: "c.json")
    let result = try await Tool.run("check", "-c", file)
    #expect(result.status != 0)
    #expect(result.errorText.contains("plugin \"fixed\""), "\(result.errorText)")
    #expect(result.errorText.contains("request[1].config: \"request\".\"te\": belongs to the connection"))
    #expect(!result.errorText.contains("s3cret"))
    let schema = try folder.write(
      """
      {"plugins": {"fixed": {"library": "\(BuiltProducts.library("static-headers"))"}},
       "request": [{"plugin": "fixed", "config": {"mode": "put"}}]}
      """, to: "d.json")
    let refused = try await Tool.run("check", "-c", schema)
    #expect(refused.status != 0 && refused.errorText.contains("request[0].config/mode: "), "\(refused.errorText)")
    let good = try folder.write(
      """
      {"plugins": {"fixed": {"library": "\(BuiltProducts.library("static-headers"))"}},
       "request": [{"plugin": "fixed", "config": {"mode": "add"}}]}
      """, to: "e.json")
    #expect(try await Tool.run("check", "-c", good).status == 0)
  }

  @Test func `check names the lists that a plugin fits and is not in`() async throws {
    let folder = try TemporaryDirectory()
    let plugins = #"{"plugins": {"edit": {"library": "\#(BuiltProducts.library("json-edit"))"}}, "#
    let half = try folder.write(plugins + #""request": ["edit"]}"#, to: "half.json")
    let result = try await Tool.run("check", "-c", half)
    let unused = #"  unused: on_response of edit, which is not in "response""#
    #expect(result.status == 0 && result.outputText.contains(unused), "\(result.outputText)")
    let document = try #require(try await Tool.run("check", "--json", "-c", half).documents.first)
    let missing: JSONValue = [["plugin": "edit", "list": "response", "callbacks": ["on_response"]]]
    #expect(document["missingLists"] == missing, "\(document)")
    let whole = try folder.write(plugins + #""request": ["edit"], "response": ["edit"]}"#, to: "whole.json")
    #expect(try await Tool.run("check", "-c", whole).outputText.contains("unused") == false)
  }

  @Test(arguments: ["request", "issue"])
  func `a plugin that sets its header in either list is not reported`(_ list: String) async throws {
    let folder = try TemporaryDirectory()
    let library = BuiltProducts.library("bearer-auth")
    let file = try folder.write(
      #"{"plugins": {"auth": {"library": "\#(library)", "config": {"token": "t", "hosts": ["a.example"]}}}, "#
        + #""\#(list)": ["auth"]}"#, to: "c.json")
    let result = try await Tool.run("check", "-c", file)
    #expect(result.status == 0 && !result.outputText.contains("unused"), "\(result.outputText)\(result.errorText)")
  }

  @Test func `a plugin that is in all lists that it fits is told to leave the other one`() async throws {
    let folder = try TemporaryDirectory()
    let plugins = #"{"plugins": {"edit": {"library": "\#(BuiltProducts.library("json-edit"))"}}, "#
    let file = try folder.write(
      plugins + #""request": ["edit"], "issue": ["edit"], "response": ["edit"]}"#, to: "c.json")
    let result = try await Tool.run("check", "-c", file)
    let advice = #"is in "issue" but has no on_issue; take it out of the list, or give the plugin that callback"#
    #expect(result.errorText.contains(advice), "\(result.errorText)")
  }

  @Test func `a plugin in a list that it does not fit is refused with the lists that it fits`() async throws {
    let folder = try TemporaryDirectory()
    let file = try folder.write(
      #"{"plugins": {"edit": {"library": "\#(BuiltProducts.library("json-edit"))"}}, "issue": ["edit"]}"#, to: "c.json")
    let result = try await Tool.run("check", "-c", file)
    let reason = #"is in "issue" but has no on_issue; move it to "request" and "response", which it has callbacks for"#
    #expect(result.status != 0 && result.errorText.contains(reason), "\(result.errorText)")
  }

  @Test func `a valid configuration is reported as valid`() async throws {
    let folder = try TemporaryDirectory()
    let file = try folder.write("{}", to: "c.json")
    let result = try await Tool.run("check", "-c", file)
    #expect(result.status == 0)
    #expect(result.outputText.hasPrefix("ok: \(file)"))
  }

  @Test func `check --json prints its result as a document`() async throws {
    let folder = try TemporaryDirectory()
    let good = try folder.write("{}", to: "good.json")
    let bad = try folder.write(#"{"x": 1}"#, to: "bad.json")
    #expect(try await Tool.run("check", "--json", "-c", good).documents.first?["ok"]?.bool == true)
    let result = try await Tool.run("check", "--json", "-c", bad)
    #expect(result.status == 2)
    let document = try #require(try result.documents.first)
    #expect(document["ok"]?.bool == false)
    #expect(document["problems"]?[0]?.string?.contains("unknown key \"x\"") == true)
  }
}
