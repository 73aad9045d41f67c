import SluiceCurl
import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluiceWire

/// The transport of one loop, as ``TransportSettings/engine`` says. Confined to its loop.
final class ChosenTransport: Transport {
  private let settings: TransportSettings
  private let wire: WireTransport
  /// The transport that carries all hops. Nil unless the settings select libcurl.
  private let curl: CurlTransport?

  /// - Throws: an error if the settings need something that the chosen engine lacks, or if a file cannot be read.
  init(loop: Loop, settings: TransportSettings, approvals: TrustApprovals) throws(TransportError) {
    self.settings = settings
    wire = try WireTransport(loop: loop, settings: settings, approvals: approvals)
    curl = settings.engine == .curl ? try CurlTransport(loop: loop, settings: settings) : nil
  }

  func start(_ request: consuming Request, _ options: TransferOptions, observer: any TransferObserver) -> any Transfer {
    guard let curl else { return wire.start(request, options, observer: observer) }
    if let wish = wishBeyondCurl(request, options) {
      return wire.fail(request, options, Self.refusal(of: wish, settings), observer: observer)
    }
    return curl.start(request, options, observer: observer)
  }

  /// The feature that the hop needs and that is not supported over libcurl; nil if libcurl can carry the hop.
  private func wishBeyondCurl(_ request: borrowing Request, _ options: TransferOptions) -> String? {
    if let wish = settings.wishBeyondCurl { return wish }
    if options.hasRoute, request.options.unixSocket != nil { return "the request names its own Unix socket" }
    guard request.url.origin.scheme == .https else { return nil }
    if options.handshake?.decidesTrust == true { return "a delegate decides whether to trust the server's certificate" }
    if options.handshake != nil { return "a delegate chooses the client certificate" }
    let hasIdentity = options.hasRoute && !options.isElsewhere && request.options.identity != nil
    return hasIdentity ? "the request has its own client certificate" : nil
  }

  /// Why the settings do not let any request to the origin be sent; nil if they do. Only the settings and the environment
  /// are examined: no name is looked up, and nothing is connected.
  static func obstacle(to origin: Origin, _ settings: TransportSettings) -> TransportError? {
    guard settings.engine == .curl else {
      return WireTransport.obstacle(to: origin, settings)
    }
    if let wish = settings.wishBeyondCurl { return refusal(of: wish, settings) }
    return ProxyChoice(settings).fault(for: origin, settings.names)
  }

  private static func refusal(of wish: String, _ settings: TransportSettings) -> TransportError {
    TransportError(
      .transport,
      "\(wish), which Sluice does not support over libcurl, but \(settings.names.engine) is \"curl\"; set it to \"auto\"",
      isBeforeSending: true)
  }

  func usesProxy(for origin: Origin) -> Bool { curl?.usesProxy(for: origin) ?? wire.usesProxy(for: origin) }

  func answerProxy(_ challenges: [Challenge], for origin: Origin, answered: Int) -> Bool {
    curl == nil && wire.answerProxy(challenges, for: origin, answered: answered)
  }

  func makeBodyGatherer(_ options: TransferOptions) -> any BodyGatherer { wire.makeBodyGatherer(options) }

  func makeRequestGatherer(_ options: TransferOptions) -> any BodyGatherer { wire.makeRequestGatherer(options) }

  func stream(of file: FileBody) throws(TransportError) -> BodyStream { try wire.stream(of: file) }
}
