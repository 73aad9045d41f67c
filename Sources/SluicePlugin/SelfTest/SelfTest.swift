public import SluiceJSON

/// A case that a plugin checks itself with: before each hot swap, and in `sluice plugin validate`.
///
///     static let selfTests = [
///       SelfTest<AddHeader>(
///         "adds-header", "The header is there.", configuration: ["value": "red"],
///         request: ["url": "http://example.com/"],
///         expectedRequest: ["headers": ["x-team": "red"]])
///     ]
///
/// The request passes through all stages of the plugin to a simulated wire, and the response passes back. Only the
/// members that an expected document names are compared, also within `headers` and `body`; `null` means that a member
/// must not exist. Cases run in a child process, in a trial (``PluginHost/isProbe``), on an instance that is not
/// activated.
public struct SelfTest<Tested: Plugin>: Sendable {
  /// Stable, `[a-z0-9-]`.
  public var name: String
  public var description: String
  /// Of an instance that is made for this case; nil has it run on the one with the user's configuration.
  public var configuration: JSONValue?
  /// nil for a GET of http://example.com/.
  public var request: JSONValue?
  /// What must be on the wire in the end.
  public var expectedRequest: JSONValue?
  /// What the wire answers; nil for a 200 without a body.
  public var response: JSONValue?
  /// What the caller must get in the end.
  public var expectedResponse: JSONValue?
  /// Runs after the documents what they cannot say; what it throws fails the case.
  public var run: (@Sendable (Tested) throws -> Void)?

  public init(
    _ name: String, _ description: String, configuration: JSONValue? = nil, request: JSONValue? = nil,
    expectedRequest: JSONValue? = nil, response: JSONValue? = nil, expectedResponse: JSONValue? = nil,
    run: (@Sendable (Tested) throws -> Void)? = nil
  ) {
    self.name = name
    self.description = description
    self.configuration = configuration
    self.request = request
    self.expectedRequest = expectedRequest
    self.response = response
    self.expectedResponse = expectedResponse
    self.run = run
  }
}
