import SluiceIDNA
import SluiceJSON
import SluiceMessages
import SluicePipeline
import SluicePluginHost
import SluiceSupport

/// Runs a plugin's own cases (`sluice.selftest/1`).
struct SelfTestRun {
  private let host: TrialHost
  private let instance: PluginInstance
  private let channel: TrialChannel

  /// The response that the host's transport gives in the current case. Cases run one after the other.
  private static let response = Locked<Response?>(nil)
  static let answer: TrialHost.Answer = { _ in .response(response.withLock { $0 } ?? Response(status: 200)) }

  /// - Parameter host: a host whose transport answers with ``answer``.
  init(_ host: TrialHost, _ instance: PluginInstance, _ channel: TrialChannel) {
    self.host = host
    self.instance = instance
    self.channel = channel
  }

  /// Runs all cases, and returns their number.
  /// - Throws: the fault of the first case that fails.
  @discardableResult
  func run() throws(PluginError) -> Int {
    let cases = try instance.generation.selfTests()
    for test in cases {
      channel.step("in the self-test \"\(test.name)\" of \"\(instance.name)\"")
      try run(test)
    }
    return cases.count
  }

  private func run(_ test: SelfTestCase) throws(PluginError) {
    host.runtime.fixWallClock(at: test.wallClock)
    defer { host.runtime.fixWallClock(at: 0) }
    guard let configuration = test.configuration else { return try run(test, on: instance) }
    let own: PluginInstance
    do throws(PluginError) {
      own = try PluginInstance(
        instance.generation, name: instance.name, configuration: configuration, runtime: host.runtime)
    } catch { throw failure(test, "its configuration is refused: \(error.reason)") }
    try run(test, on: own)
    own.destroy(within: TrialHost.patience)
  }

  private func run(_ test: SelfTestCase, on instance: PluginInstance) throws(PluginError) {
    if test.hasDocuments { try exchange(test, on: instance) }
    if let message = instance.runSelfTest(test.index) { throw failure(test, message) }
  }

  private func exchange(_ test: SelfTestCase, on instance: PluginInstance) throws(PluginError) {
    let result: TransactionResult?
    do throws(MessageError) {
      let request = try RequestDocument.read(test.request ?? Self.plainRequest, rules: .line, hosts: .idna)
      let response = try test.response.map { document throws(MessageError) in
        try ResponseDocument.read(document, rules: .line)
      }
      Self.response.withLock { $0 = response }
      // Every status counts as a success, because the test case checks the status. A case covers a single attempt.
      let settings = PipelineSettings(
        deadline: TrialHost.patience, maximumAttempts: 1, acceptedStatuses: StatusSet([100...999]))
      result = host.run(request, through: host.pipeline(instance, settings: settings))
    } catch { throw failure(test, "its document is invalid: \(error)") }
    guard let result else { throw failure(test, "its transaction did not end") }
    try compare(test, result)
  }

  private static var plainRequest: JSONValue { ["method": "GET", "url": "http://example.com/"] }

  private func compare(_ test: SelfTestCase, _ result: TransactionResult) throws(PluginError) {
    let expectedError = test.expectedResponse?["error"] ?? .null
    guard expectedError.isNull || test.expectedResponse?.count == 1 else {
      throw failure(
        test, "its expected response has \"error\" and other members, but a failed transaction has no response")
    }
    if let error = result.error {
      guard !expectedError.isNull else { throw failure(test, "its transaction failed: \(error)") }
      try compare(test, "the error", expectedError, Self.document(error))
    } else if !expectedError.isNull {
      throw failure(test, "its transaction did not fail: expected \(expectedError)")
    }
    if let expected = test.expectedRequest {
      guard let issued = result.issuedRequest else { throw failure(test, "no request was sent") }
      try compare(test, "request", expected) { RequestDocument.make(issued, body: $0) }
    }
    if let expected = test.expectedResponse, expectedError.isNull {
      guard let response = result.response else { throw failure(test, "there was no response") }
      try compare(test, "response", expected) { ResponseDocument.make(response, body: $0) }
    }
  }

  private static func document(_ error: TransactionError) -> JSONValue {
    let document: JSONValue = ["code": JSONValue(error.code.rawValue), "message": JSONValue(error.message)]
    document["stage"] = error.stage.map { JSONValue($0) }
    return document
  }

  private func compare(
    _ test: SelfTestCase, _ side: String, _ expected: JSONValue, _ make: (BodyDocument.Filling) -> JSONValue
  ) throws(PluginError) {
    let wantsJSON = expected["body"]?["json"] != nil
    let found = make(wantsJSON ? .parsed : .plain)
    for (key, value) in expected.members { try compare(test, "the \(side)'s \(key)", value, found[key]) }
  }

  /// Compares two values. In an object, only the members that `expected` has are compared; if `expected` has null for a
  /// member, `found` must not have the member, and if it has an empty object, `found` must have the member.
  private func compare(
    _ test: SelfTestCase, _ place: String, _ expected: JSONValue, _ found: JSONValue?
  ) throws(PluginError) {
    if expected == .object() {
      guard found == nil else { return }
      throw failure(test, "\(place): expected any value, found none")
    }
    guard expected.isObject, found?.isObject ?? true else {
      guard found ?? .null != expected else { return }
      let none = expected.isNull ? "none" : "\(expected)"
      throw failure(test, "\(place): expected \(none), found \(found.map { "\($0)" } ?? "none")")
    }
    for (key, value) in expected.members { try compare(test, "\(place).\(key)", value, found?[key]) }
  }

  private func failure(_ test: SelfTestCase, _ message: String) -> PluginError {
    PluginError(
      .selfTestFailed, .plugin(name: instance.name, path: instance.generation.path),
      "self-test \"\(test.name)\" failed: \(message)")
  }
}
