import Glibc
package import SluiceMessages
package import SluicePipeline

// What can be found out about the settings before the first request.
extension HTTPTransport {
  /// Why a request is not sent, apart from its size; nil if it is.
  func refusal(of request: borrowing Request, _ options: TransferOptions) -> TransportError? {
    if !keepsConnections, let refusal = refusalOverHTTP10(request) { return refusal }
    guard proxies.isPossible, !options.hasRoute || request.options.unixSocket == nil else { return nil }
    return proxies.fault(for: request.url.origin, settings.names)
  }

  /// HTTP/1.0 has neither trailers nor a body whose length is not known at its begin.
  private func refusalOverHTTP10(_ request: borrowing Request) -> TransportError? {
    let fault: String
    if request.hasTrailers {
      fault =
        "the request has trailers, and HTTP/1.0 has none; select HTTP/1.1 (\(settings.names.http11)), or send the"
        + " fields as headers"
    } else if case .stream(let stream) = request.body, stream.byteCount == nil {
      fault =
        "the length of the request body is not known, which HTTP/1.0 demands; select HTTP/1.1"
        + " (\(settings.names.http11))"
    } else {
      return nil
    }
    return TransportError(.transport, fault, to: request.url, isBeforeSending: true)
  }

  /// Reads the files that the settings name for TLS, as the first connection over TLS would, and their lists of ciphers.
  /// Leaves out the files if one of them is missing, which the start of the engine reports, or is a pipe or a device.
  ///
  /// - Throws: an error if OpenSSL cannot use the settings.
  package static func checkTLS(_ settings: TransportSettings) throws(TransportError) {
    var tls = settings.tls
    let isComplete = tls.files.allSatisfy { access($0, F_OK) == 0 && TLSSettings.obstacle(at: $0) == nil }
    if !isComplete { tls.leaveOutFiles() }
    let hasCiphers = tls.ciphers.tls12 != nil || tls.ciphers.tls13 != nil
    guard hasCiphers || tls.ca != nil || tls.certificate != nil else { return }
    do { _ = try TLSContext(tls, offersHTTP2: false) } catch { throw TransportFailure.files(error, settings) }
  }

  /// Why no connection to the origin can be made: the settings allow only addresses of one family, and all addresses that
  /// are known without a look-up are of the other family.
  package static func obstacle(to origin: Origin, _ settings: TransportSettings) -> TransportError? {
    guard settings.unixSocket == nil else { return nil }
    let proxies = ProxyRules(settings)
    if let fault = proxies.fault(for: origin, settings.names) { return fault }
    guard proxies.proxy(for: origin) == nil else { return nil }
    let place = settings.sockets.destination(of: SocketSettings.Place(host: origin.lookUpName, port: origin.port))
    let known = (settings.sockets.addresses(of: place) ?? [place.host])
      .compactMap { SocketAddress($0, port: place.port) }
    guard !known.isEmpty, !known.contains(where: { settings.sockets.family.includes($0.family) }) else { return nil }
    return TransportFailure.withoutAddress(origin, settings)
  }
}
