public import SluiceJSON

/// A self-test case of a plugin, which runs before each hot swap and in `sluice plugin validate`.
///
///     static let selfTests = [
///       SelfTest<AddHeader>(
///         "adds-header", "The header is there.", configuration: ["value": "red"],
///         request: ["url": "http://example.com/"],
///         expectedRequest: ["headers": ["x-team": "red"]])
///     ]
///
/// The request passes through all stages of the plugin to a simulated wire, and the response passes back. Only the
/// members that an expected document names are compared, within `headers` and `body` too; `null` means that a member
/// must not exist, and an empty object that it exists, with any value. Cases run in a child process, in a trial (``PluginHost/isTrial``), on an instance that is not
/// activated.
public struct SelfTest<Tested: Plugin>: Sendable {
  /// Stable, `[a-z0-9-]`.
  public var name: String
  /// What the case shows: one line for people, not empty, at most 1024 bytes.
  public var description: String
  /// The configuration of an instance that is created for this case; with nil the case runs on the instance with the
  /// user's configuration.
  public var configuration: JSONValue?
  /// The request document; nil means a GET of http://example.com/.
  public var request: JSONValue?
  /// The expected request on the wire.
  public var expectedRequest: JSONValue?
  /// The answer of the wire; nil means a 200 without a body.
  public var response: JSONValue?
  /// The expected response for the caller. With the member `error`, as in result documents, the transaction must fail:
  /// `["error": ["code": "no_token"]]`.
  public var expectedResponse: JSONValue?
  /// What ``PluginHost/wallClock`` returns during the case, since 1970 and more than zero; nil means the time of the
  /// system.
  public var wallClock: Duration?
  /// Additional checks, which run after the comparison of documents; a thrown error fails the case.
  public var run: (@Sendable (Tested) throws -> Void)?

  /// Makes a case. The host checks the name, the description and the documents when it reads the cases.
  public init(
    _ name: String, _ description: String, configuration: JSONValue? = nil, request: JSONValue? = nil,
    expectedRequest: JSONValue? = nil, response: JSONValue? = nil, expectedResponse: JSONValue? = nil,
    wallClock: Duration? = nil, run: (@Sendable (Tested) throws -> Void)? = nil
  ) {
    self.name = name
    self.description = description
    self.configuration = configuration
    self.request = request
    self.expectedRequest = expectedRequest
    self.response = response
    self.expectedResponse = expectedResponse
    self.wallClock = wallClock
    self.run = run
  }
}
