import Testing

@testable import SluicePluginHost

/// State and self-tests in a trial, before a swap.
struct TrialStateTests {
  private func refusal(
    _ state: String, _ defines: [String] = [], of owner: String? = nil
  ) async throws -> PluginError? {
    try await TrialFixture.refusal(
      of: "keeps-state", defines, state: SavedState(text: state, version: 1), stateOwner: owner)
  }

  @Test func `a state that can be loaded does not prevent the swap`() async throws {
    #expect(try await refusal(#"{"count": 5}"#) == nil)
  }

  @Test func `a build that refuses the state is refused, unless its state is optional`() async throws {
    let error = try #require(try await refusal(#"{"count": "five"}"#))
    #expect(error.code == .stateRefused)
    #expect(error.reason.contains("expected an integer"), "\(error)")
    #expect(try await refusal(#"{"count": "five"}"#, ["OPTIONAL"]) == nil)
  }

  @Test func `a trial loads a state only into the plugin that saved it`() async throws {
    #expect(try await refusal(#"{"count": "five"}"#, of: "fixture")?.code == .stateRefused)
    #expect(try await refusal(#"{"count": "five"}"#, of: "another") == nil)
  }

  @Test func `the error for a crash in load names the instance`() async throws {
    let error = try #require(try await refusal(#"{"count": 13}"#))
    #expect(error.code == .trialCrashed)
    #expect(error.reason.contains("in load of the state of \"stage\""), "\(error)")
  }

  @Test func `self-tests run with their documents, and a build with a failed self-test is refused`() async throws {
    #expect(try await TrialFixture.refusal(of: "tests-itself") == nil)
    let paint = try #require(try await TrialFixture.refusal(of: "tests-itself", [#"VALUE="green""#]))
    #expect(paint.code == .selfTestFailed)
    for words in ["\"paints\"", "green", "blue", "headers"] { #expect(paint.reason.contains(words), "\(paint)") }
    let dry = try #require(try await TrialFixture.refusal(of: "tests-itself", ["RUN=SLUICE_STATUS_FAILED"]))
    #expect(dry.reason.contains("self-test \"dries\" failed: the paint is dry"), "\(dry)")
  }

  @Test func `a self-test fixes the clock, expects any value of a header, and expects a failure`() async throws {
    #expect(try await TrialFixture.refusal(of: "tests-dates") == nil)
  }

  /// The arguments are a definition and what the refusal says.
  @Test(arguments: [
    (#"EXPECTED_REQUEST="{\"headers\": {\"x-time\": \"1\"}}""#, #"expected "1", found "1440938160000000000""#),
    (#"EXPECTED_REQUEST="{\"headers\": {\"x-token\": {}}}""#, "headers.x-token: expected any value, found none"),
    (#"EXPECTED_REQUEST="{\"headers\": {\"x-nonce\": null}}""#, "headers.x-nonce: expected none, found"),
    (#"EXPECTED_REQUEST="{\"error\": {}}""#, "the request's error: expected any value, found none"),
    (
      #"EXPECTED_RESPONSE="{\"error\": {\"code\": \"other\"}}""#, #"the error.code: expected "other", found "no_token""#
    ),
    (#"EXPECTED_RESPONSE="{\"status\": 200}""#, "its transaction failed: "),
    (#"EXPECTED_RESPONSE="{\"error\": null}""#, "its transaction failed: "),
  ])
  func `a self-test with another expectation fails, and says what was found`(
    _ define: String, _ reason: String
  ) async throws {
    let error = try #require(try await TrialFixture.refusal(of: "tests-dates", [define]))
    #expect(error.code == .selfTestFailed && error.reason.contains(reason), "\(error)")
  }

  @Test(arguments: [
    (#"CONFIGURATION="{\"colour\": 1}""#, #"self-test "paints" failed: its configuration is refused: "#),
    (#"RESPONSE="{\"error\": {}, \"status\": 200}""#, "its expected response has \"error\" and other members"),
  ])
  func `a self-test that cannot pass says that its own documents are wrong`(
    _ define: String, _ reason: String
  ) async throws {
    let error = try #require(try await TrialFixture.refusal(of: "tests-itself", [define]))
    #expect(error.reason.contains(reason), "\(error)")
  }

  @Test func `a self-test that expects a failure fails if the request succeeds`() async throws {
    let define = #"EXPECTED_RESPONSE="{\"error\": {}}""#
    #expect(try await TrialFixture.refusal(of: "tests-dates", [define]) == nil)
    let error = try #require(try await TrialFixture.refusal(of: "tests-itself", [#"RESPONSE="{\"error\": {}}""#]))
    #expect(error.reason.contains("its transaction did not fail: expected {}"), "\(error)")
  }

  @Test(arguments: [#"DOCUMENT="{""#, #"DOCUMENT="{\"url\": 1}""#])
  func `a build whose self-test has an invalid document is refused`(_ define: String) async throws {
    let error = try #require(try await TrialFixture.refusal(of: "tests-itself", [define]))
    #expect([.invalidTable, .selfTestFailed].contains(error.code), "\(error)")
  }
}
