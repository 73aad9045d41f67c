import Sluice
import SluiceAssembly
import SluiceHTTP1
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceTraceContext

/// Makes a transaction of each request that a server hands over. Used on all loops.
final class GatewayHandler: ServerHandler {
  let engine: Engine
  let bufferBytes: Int
  let observer: (any GatewayObserver)?
  private let settings: ServeSettings
  private let clients: ServeSettings.Clients
  private let upstream: HTTPURL
  /// A request with everything that all requests have in common.
  private let template: Request
  /// The text of the upstream's URL without the slash at its end, before which the target of a request is put.
  private let urlStart: [UInt8]
  /// Where its path begins.
  private let pathStart: Int
  /// What `Via` says about the gateways of this process. A request that has it already has passed through one of them.
  private static let drawnPseudonym = Array("sluice-\(String(UInt32.random(in: 1 ... .max), radix: 16))".utf8)
  private let pseudonym = drawnPseudonym
  /// This gateway's member of `Via`, for each version of requests.
  private let via10: [UInt8]
  private let via11: [UInt8]
  private let via20: [UInt8]
  /// The host that clients use on this machine; nil if `Host` is not checked.
  private let localName: String?

  init(
    _ engine: Engine, _ listener: ServeSettings.Listener, _ settings: ServeSettings, bufferBytes: Int,
    _ observer: (any GatewayObserver)?
  ) {
    self.engine = engine
    self.observer = observer
    self.settings = settings
    self.bufferBytes = bufferBytes
    clients = listener.clients ?? .open
    guard let upstream = settings.upstream else { preconditionFailure("the settings of a gateway name no upstream") }
    self.upstream = upstream
    var start = Array(upstream.string.utf8)
    if start.last == UInt8(ascii: "/") { start.removeLast() }
    urlStart = start
    pathStart = upstream.origin.description.utf8.count
    via10 = Array("1.0 ".utf8) + pseudonym
    via11 = Array("1.1 ".utf8) + pseudonym
    via20 = Array("2.0 ".utf8) + pseudonym
    localName =
      if case .address(let host, _) = listener.place, listener.clients == nil { host } else { nil }
    var template = Request(url: upstream)
    // The client decides about these, and a gateway adds nothing by itself.
    template.omittedDefaults = [.accept, .acceptEncoding, .userAgent, .expect]
    template.options.maximumRedirects = 0
    // A body can take longer than an attempt, as long as it makes progress.
    template.options.endsAttemptAtHead = true
    template.options.idleTimeout = engine.configuration.transport.timeout
    template.options.decodesOnDemand = true
    template.options.unixSocket = settings.unixSocket
    self.template = template
  }

  /// Every status of an upstream is passed on as it is, and no payload is made.
  static let checks = ResponseChecks(validate: { _ in })

  func handle(_ stream: ServerStream) {
    do throws(GatewayRefusal) {
      try checkClient(stream)
      guard observer?.received(stream) ?? true else { return }
      if isLastHop(stream.head) {
        stream.respond(200, HeaderFields(), .bytes(0))
        return stream.finish()
      }
      var request = try request(stream)
      if let observer {
        guard observer.hasRoom else {
          throw GatewayRefusal(503, .internalResponse, "the files with the results are slower than the traffic")
        }
        request = observer.asked(request)
      }
      GatewayExchange.begin(stream, self, request, parent: parent(stream.head.fields))
    } catch { error.answer(stream) }
  }

  func refusal(_ status: Int) -> (fields: HeaderFields, body: [UInt8]) {
    let kind = status < 500 ? ProxyError.requestFault : .internalResponse
    return (kind.fields, kind.body)
  }

  // MARK: The request

  private func checkClient(_ stream: ServerStream) throws(GatewayRefusal) {
    if clients != .open, !clients.contain(stream.client.peer) {
      throw GatewayRefusal(403, .requestDenied, "this address is not among the clients that are served")
    }
  }

  private func request(_ stream: ServerStream) throws(GatewayRefusal) -> Request {
    let head = stream.head
    guard head.form == .origin || head.form == .absolute else {
      throw GatewayRefusal(501, .internalResponse, "the target \(PlainText.quote(head.target)) is not supported")
    }
    guard !Self.isSecure(head) || stream.client.isSecure == true || settings.forwarded == .append else {
      throw GatewayRefusal(
        421, .internalResponse,
        "an https URL is not served without TLS, unless \"forwarded\" is \"append\" because a trusted gateway is before this one"
      )
    }
    if head.hasUpgrade, let protocols = head.fields["upgrade"], protocols.lowercased().contains("websocket") {
      throw GatewayRefusal(501, .internalResponse, "an upgrade to \(PlainText.quote(protocols)) is not supported")
    }
    if let localName, let host = head.host, !HostField.isLocal(host, servedAs: localName), !isUpstream(host) {
      throw GatewayRefusal(
        421, .internalResponse,
        "the host \(PlainText.quote(host)) is not served: this address is for programs on this machine, unless \"clients\""
          + " says who is served")
    }
    var request = template
    request.method = head.method
    request.url = try url(head)
    request.headers = try fields(stream)
    request.client = stream.client
    return request
  }

  /// Whether the target is an `https` URL. In HTTP/2 it never is, and `:scheme` tells nothing: a program that ends TLS
  /// before this gateway passes it on as it is.
  private static func isSecure(_ head: ServerRequestHead) -> Bool {
    head.form == .absolute && (try? HTTPURL(head.target))?.origin.scheme == .https
  }

  private func isUpstream(_ host: String) -> Bool {
    (try? HTTPURL("\(upstream.origin.scheme.rawValue)://\(host)/"))?.isAt(upstream.origin) ?? false
  }

  private func url(_ head: ServerRequestHead) throws(GatewayRefusal) -> HTTPURL {
    var text = urlStart
    if head.form == .origin {
      text.append(contentsOf: head.target.utf8)
    } else if let url = try? HTTPURL(head.target) {
      text.append(contentsOf: url.path.utf8)
      if let query = url.query { text.append(contentsOf: "?\(query)".utf8) }
    }
    if !isBelowUpstream(text) {
      throw GatewayRefusal(400, .requestFault, "the target leads out of the path of the upstream")
    }
    if let url = upstream.sibling(text.span) { return url }
    do { return try HTTPURL(String(decoding: text, as: UTF8.self)) } catch {
      throw GatewayRefusal(400, .requestFault, "the target is not valid: \(error.reason)")
    }
  }

  /// Whether every server finds the target below the path of the upstream's URL. Dot segments could lead elsewhere.
  private func isBelowUpstream(_ text: [UInt8]) -> Bool {
    guard pathStart < urlStart.count else { return true }
    let end = text[pathStart...].firstIndex(of: UInt8(ascii: "?")) ?? text.count
    let path = text.span.extracting(pathStart..<end)
    if PathReadings.isPlain(path) { return true }
    let (readings, prefix) = (PathReadings(path), String(decoding: urlStart[pathStart...], as: UTF8.self) + "/")
    return [readings.standard, readings.lenient ?? readings.standard].allSatisfy { $0.hasPrefix(prefix) }
  }

  /// The fields that the upstream gets: those of the client, without the fields of its connection (RFC 9110 §7.6.1), and
  /// with those of this gateway.
  private func fields(_ stream: ServerStream) throws(GatewayRefusal) -> HeaderFields {
    let head = stream.head
    let received = head.fields
    let options = ConnectionOptions(received)
    if options.isTooLong { throw GatewayRefusal(400, .requestFault, "Connection lists too many options") }
    var fields = HeaderFields(fieldCapacity: received.count + 8, byteCapacity: received.wireByteCount + 256)
    var forwarding = ForwardingFields(settings.forwarded)
    var via: [UInt8] = []
    let bytes = received.buffer.span
    for index in received.indices {
      let name = bytes.extracting(received.nameRange(at: index))
      let value = bytes.extracting(received.valueRange(at: index))
      if FieldSyntax.isTransportField(name) {
        if Self.wantsTrailers(name, value) { fields.append("TE".utf8.span, "trailers".utf8.span) }
        continue
      }
      if options.names(name) { continue }
      switch name.count {
      case 3 where FieldSyntax.equals(name, "via"):
        if !via.isEmpty { via.append(", ") }
        via.append(copying: value)
      case 6 where FieldSyntax.equals(name, "expect"):
        // HTTP/1.0 has no expectations, so this one means nothing (RFC 9110 §10.1.1). Servers read a list differently.
        guard head.version != .http10, !fields.contains("expect") else { continue }
        fields.append("Expect".utf8.span, "100-continue".utf8.span)
      case 14 where ForwardingFields.isSpelled(name, "content-length"),
        17 where ForwardingFields.isSpelled(name, "transfer-encoding"):
        // Some programs behind servers cannot tell the underscore from a hyphen.
        continue
      case 12 where FieldSyntax.equals(name, "max-forwards") && (head.method == "OPTIONS" || head.method == "TRACE"):
        fields.append(name, String(try Self.hopsLeft(value)).utf8.span)
      case 4 where FieldSyntax.equals(name, "host"):
        if settings.host == .keep, head.form == .origin { fields.append(name, value) }
      default:
        if settings.trace == .ignore, Self.isTraceField(name) { continue }
        if !forwarding.take(name, value) { fields.append(name, value) }
      }
    }
    if settings.host == .keep, head.form == .absolute, let host = head.host { fields.append("Host", host) }
    forwarding.append(to: &fields, stream)
    guard !isOwn(via) else { throw .loop }
    let own =
      switch head.version {
      case .http10: via10
      case .http2: via20
      default: via11
      }
    if via.isEmpty {
      fields.append("Via".utf8.span, own.span)
    } else {
      via.append(", ")
      via.append(contentsOf: own)
      fields.append("Via".utf8.span, via.span)
    }
    return fields
  }

  /// Whether the client asks this gateway about itself.
  private func isLastHop(_ head: ServerRequestHead) -> Bool {
    guard head.method == "OPTIONS", let value = head.fields["max-forwards"] else { return false }
    return !value.isEmpty && value.utf8.allSatisfy { $0 == UInt8(ascii: "0") }
  }

  /// More hops than any request needs.
  private static let maximumHops = 255

  /// The hops that are left after this one (RFC 9110 §7.6.2).
  private static func hopsLeft(_ value: Span<UInt8>) throws(GatewayRefusal) -> Int {
    guard !value.isEmpty, value.indices.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= value[$0] }) else {
      throw GatewayRefusal(400, .requestFault, "Max-Forwards is not a number")
    }
    let hops = min(Int(String(copying: value)) ?? .max, maximumHops)
    guard hops > 0 else { throw GatewayRefusal(501, .internalResponse, "Max-Forwards ends at this gateway") }
    return hops - 1
  }

  /// Whether the field says that the client takes trailers. It is passed on, because gRPC needs it; over HTTP/1.1, the
  /// transport leaves it out (RFC 9110 §10.1.4).
  private static func wantsTrailers(_ name: Span<UInt8>, _ value: Span<UInt8>) -> Bool {
    guard name.count == 2, FieldSyntax.equals(name, "te") else { return false }
    var isListed = false
    FieldLine.forEachMember(of: value) { if FieldSyntax.equals($0, "trailers") { isListed = true } }
    return isListed
  }

  /// Whether a `Via` names this gateway.
  private func isOwn(_ via: [UInt8]) -> Bool {
    guard via.count >= pseudonym.count else { return false }
    return (0...via.count - pseudonym.count).contains { via[$0...].starts(with: pseudonym) }
  }

  /// The trailers of a client that the upstream gets. Some programs read trailers like fields of the head, so those that the
  /// gateway sets or drops there are dropped here too, and credentials, which must not be trailers (RFC 9110 §6.5.1).
  func passedOn(_ trailers: HeaderFields, of head: ServerRequestHead) -> HeaderFields {
    if trailers.isEmpty { return trailers }
    let options = ConnectionOptions(head.fields)
    var kept = trailers
    for index in trailers.indices.reversed() {
      let name = trailers.buffer.span.extracting(trailers.nameRange(at: index))
      let isDropped =
        ForwardingFields.isForwarding(name) || options.names(name) || FieldSyntax.equals(name, "via")
        || FieldSyntax.equals(name, "authorization") || FieldSyntax.equals(name, "cookie")
        || settings.trace == .ignore && Self.isTraceField(name)
      if isDropped { kept.remove(at: index) }
    }
    return kept
  }

  private static func isTraceField(_ name: Span<UInt8>) -> Bool {
    FieldSyntax.equals(name, "traceparent") || FieldSyntax.equals(name, "tracestate")
      || FieldSyntax.equals(name, "baggage")
  }

  private func parent(_ fields: HeaderFields) -> ParentContext {
    guard settings.trace == .extract else { return ParentContext() }
    let hasContext = fields.contains("traceparent") || fields.contains("baggage")
    return hasContext ? Self.propagators.extract(from: fields).parent : ParentContext()
  }

  private static let propagators = Propagators(["tracecontext", "baggage"].compactMap { Propagators.named($0) })
}
