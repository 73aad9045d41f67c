import Glibc
import Sluice
import SluiceMessages
import SluicePipeline
import SluiceSupport
import SluiceTraceContext

/// The objects that all requests of one `send` share.
struct SendSetup: Sendable {
  private(set) var configuration: Configuration
  let mask: SecretMask
  /// Nil if heads are not written.
  let heads: HeadRecorder?
  let cookies: CookieOptions?
  /// The text that is printed at the end of each request; nil for none.
  let writeOut: WriteOut?
  /// The trace context from the environment.
  let parent: ParentContext
  /// The maximum number of requests in flight.
  let parallelLimit: Int
  private let contents = SendContents()
  private let netrc: Netrc?
  private let schemes: SchemeRule?
  private let signature: SignatureOption?
  private let wantsExplanation: Bool

  init(_ arguments: ParsedArguments) throws(CommandError) {
    try OutputPath.check(arguments)
    try SendOutput.check(arguments)
    parallelLimit = try Self.parallelLimit(arguments)
    configuration = try SendConfiguration.make(arguments)
    schemes = try SchemeRule.make(arguments)
    schemes?.append(to: &configuration)
    mask = SecretMask(configuration.redaction)
    cookies = try CookieOptions.make(arguments)
    cookies?.add(to: &configuration)
    // Comes after every stage that changes the request.
    signature = SignatureOption(arguments)
    signature?.append(to: &configuration)
    writeOut = arguments.has("curl") ? nil : try WriteOut.make(arguments)
    parent = EngineStart.extraction.parent
    netrc = try Netrc.read(arguments)
    wantsExplanation = arguments.has("explain")
    let wantsHeads = ["include", "head", "dump-header"].contains(where: arguments.has)
    heads = wantsHeads ? HeadRecorder() : nil
    heads?.append(to: &configuration)
    if let path = arguments["dump-header"], !arguments.has("curl") { try Self.empty(path) }
  }

  private static func parallelLimit(_ arguments: ParsedArguments) throws(CommandError) -> Int {
    let most = try arguments.integer("parallel-max", 1...10_000)
    guard arguments.has("parallel") else {
      guard most == nil else { throw CommandError(.usage, "send: --parallel-max needs -Z") }
      return 1
    }
    return most ?? 50
  }

  /// Empties the file of `-D`, because the requests append to it, and it can have heads from an earlier command.
  private static func empty(_ path: String) throws(CommandError) {
    // `FileIdentity` is nil if the file is not regular. Such a file cannot be emptied.
    guard SystemPath.stream(of: path) == nil, FileIdentity(at: path) != nil else { return }
    guard truncate(SystemPath.of(path), 0) == 0 else {
      throw CommandError(SendStatus.notWritten, "-D: " + ByteOutput.Failure(name: path, errorNumber: errno).description)
    }
  }

  /// Lets a caller add its stages to the configuration.
  mutating func configure(_ body: (inout Configuration) -> Void) { body(&configuration) }

  /// Refuses a URL to which the settings let no request be sent. A library is not loaded yet; it could change the URL, or
  /// answer the request itself.
  func checkReach(of url: HTTPURL) throws(CommandError) {
    guard configuration.libraries.isEmpty, let obstacle = Engine.obstacle(to: url, configuration) else { return }
    throw SendStatus.failure(obstacle)
  }

  /// Reads the files of the options about TLS, and the lists of ciphers, as the first https connection would.
  mutating func checkTLS() throws(CommandError) {
    try PipedTLSFiles.replace(in: &configuration.transport)
    do throws(TransportError) { try Engine.checkTLS(configuration) } catch { throw SendStatus.failure(error) }
  }

  func request(_ arguments: ParsedArguments) throws(CommandError) -> Request {
    var range: String?
    if arguments.has("continue-at") {
      range = try ResumedBody.make(arguments, path: OutputPath.make(arguments)?.path)?.range
    }
    var request = try SendRequest(
      arguments, configuration, contents: contents, netrc: netrc, jar: cookies?.jar, range: range, signature: signature
    ).make()
    request.wantsExplanation = wantsExplanation
    try schemes?.check(request.url)
    return request
  }
}
