import Glibc
import SluiceMessages
import SluicePipeline
@testable import SluicePluginFile
import SluiceTestKit
import SluiceTestPipeline
import Testing

@testable import SluicePluginHost

/// Hosts that offer fewer features than the engine does.
struct HostFeatureTests {
  /// A missing feature, and the answer that the fixture then gets from each affected function. Nil stands for a
  /// function that is not called at all.
  struct Lack: Sendable, CustomTestStringConvertible {
    let feature: HostFeatures
    /// The feature's name in `host.h`, without the prefix `SLUICE_FEATURE_`.
    let name: String
    let answers: [String: String?]

    init(_ feature: HostFeatures, _ name: String, _ answers: [String: String?]) {
      (self.feature, self.name, self.answers) = (feature, name, answers)
    }

    var testDescription: String { name }
  }

  static let lacks = [
    Lack(.suspend, "SUSPEND", ["suspend": "4", "post": "4", "resume": "4"]),
    Lack(.respond, "RESPOND", ["respond": "3"]),
    Lack(.retry, "RETRY", ["retry": "3"]),
    Lack(.requestBody, "REQUEST_BODY", ["body-get": "4", "body-set": "4", "want-body": "4", "json-body": "0"]),
    Lack(.responseBody, "RESPONSE_BODY", ["want-response": "4", "response-body": "4"]),
    Lack(.streamedBody, "STREAMED_BODY", ["body-write": "4", "chunk": nil]),
    Lack(.timers, "TIMERS", ["timers": "0", "schedule": nil]),
    Lack(.callOuts, "CALLOUT", ["callout": "0"]),
    Lack(.metrics, "METRICS", ["metrics": "0"]),
    Lack(.values, "VALUES", ["values": "0"]),
    Lack(.hops, "HOPS", ["issue": nil]),
    Lack(.rewrite, "REWRITE", ["method": "4", "url": "4"]),
    Lack(.response, "RESPONSE", ["response": nil, "response-body": nil]),
    Lack(.document, "DOCUMENT", ["json": "0", "json-body": "0"]),
    Lack(.notifications, "NOTIFICATIONS", ["completions": "0", "schedule": "4"]),
  ]

  @Test func `the table of this test has every feature`() {
    #expect(Self.lacks.reduce(into: HostFeatures()) { $0.formUnion($1.feature) } == .all)
    #expect(HostFeatures.offered == .all)
  }

  @Test(arguments: lacks)
  func `a host refuses a plugin that requires a missing feature, before any of its code runs`(lack: Lack) async throws {
    let feature = try #require(lack.feature.names.first)
    let product = try await PluginCompiler.compile("asks-for-features", defines: ["REQUIRES=\(feature)"])
    let offer = HostOffer(host: "proxy", features: .all.subtracting(lack.feature))
    let loader = PluginLoader(store: try LibraryFixture().store, offer: offer)
    let error = #expect(throws: PluginError.self) { _ = try loader.stage(product.path) }
    #expect(error?.code == .missingFeature)
    #expect(
      error?.named("auth").description
        == "plugin \"auth\" at \(product.path): requires the host feature \"\(feature)\", which the host proxy does not "
        + "offer; use it in a host that offers it")
    #expect(getenv("SLUICE_REFUSED_FIXTURE_RAN") == nil)
  }

  @Test func `if a host lacks a feature, only the answers of the functions of this feature change`()
    async throws
  {
    let product = try await PluginCompiler.compile("asks-for-features")
    let all = try await answers(product.path, .offered)
    #expect(all["features"] == String(HostFeatures.offered.rawValue))
    for lack in Self.lacks {
      let features = HostFeatures.all.subtracting(lack.feature)
      var expected = all
      expected["features"] = String(features.rawValue)
      for (name, answer) in lack.answers {
        #expect(all[name] != nil && all[name] != answer, "\(name) has the same answer with and without \(lack.name)")
        expected[name] = answer
      }
      let told = try await answers(product.path, features)
      #expect(told == expected, "without \(lack.name)")
    }
  }

  private func answers(_ library: String, _ features: HostFeatures) async throws -> [String: String] {
    let stage = try await StageFixture(library: library, features: features) { _ in
      .response(Response(status: 200, body: .text("hello")))
    }
    let result = try stage.run(StageFixture.request("POST", body: .text("body")))
    #expect(result.status == 200)
    return stage.log.value.reduce(into: [:]) { answers, entry in
      let parts = entry.message.split(separator: "=", maxSplits: 1)
      if entry.level == .info, parts.count == 2 { answers[String(parts[0])] = String(parts[1]) }
    }
  }

  @Test func `a verdict of RETRY in a host without retries is a fault`() async throws {
    let stage = try await StageFixture(
      "breaks-verdicts", defines: ["VERDICT=SLUICE_VERDICT_RETRY"], features: .all.subtracting(.retry))
    let result = try stage.run(StageFixture.request())
    #expect(result.error?.code == "stage_fault")
    #expect(result.error?.message.contains("it answered RETRY, which this host does not offer") == true)
  }

  @Test func `a document cannot change parts of a message that the host does not let a stage change`() async throws {
    let stage = try await StageFixture("edits-documents", features: .all.subtracting(.rewrite))
    let result = try stage.run(
      StageFixture.request("POST", ["content-type": "application/json"], body: .text(#"{"a": 1}"#)))
    #expect(
      result.error?.message.contains("does not let a stage change method and URL") == true,
      "\(String(describing: result.error))")
    #expect(stage.transport.issued.isEmpty)
  }
}
