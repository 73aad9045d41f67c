import Glibc
package import SluiceMessages
package import SluicePipeline
import SluiceTransport

// What can be found out about the settings before the first request.
extension WireTransport {
  /// Reads the files that the settings name for TLS, as the first connection over TLS would, and their lists of ciphers.
  /// Leaves out the files if one of them is missing, which the start of the engine reports, or is a pipe or a device.
  /// Libcurl reads them with OpenSSL too.
  ///
  /// - Throws: an error if OpenSSL cannot use the settings.
  package static func checkTLS(_ settings: TransportSettings) throws(TransportError) {
    var tls = settings.tls
    // Libcurl reads the authorities, but does not need them, if it does not verify the server.
    if settings.needsCurl, !tls.verify { tls.ca = nil }
    let isComplete = tls.files.allSatisfy { access($0, F_OK) == 0 && TLSSettings.obstacle(at: $0) == nil }
    if !isComplete { tls.leaveOutFiles() }
    let hasCiphers = tls.ciphers.tls12 != nil || tls.ciphers.tls13 != nil
    guard hasCiphers || tls.ca != nil || tls.certificate != nil else { return }
    do { _ = try TLSContext(tls, offersHTTP2: false) } catch { throw WireFailure.files(error, settings) }
  }

  /// Why no connection to the origin can be made: the settings allow only addresses of one family, and all addresses that
  /// are known without a look-up are of the other family.
  package static func obstacle(to origin: Origin, _ settings: TransportSettings) -> TransportError? {
    guard settings.unixSocket == nil else { return nil }
    let place = settings.sockets.destination(of: SocketSettings.Place(host: origin.lookUpName, port: origin.port))
    let known = (settings.sockets.addresses(of: place) ?? [place.host])
      .compactMap { SocketAddress($0, port: place.port) }
    guard !known.isEmpty, !known.contains(where: { settings.sockets.family.includes($0.family) }) else { return nil }
    return WireFailure.withoutAddress(origin, settings)
  }
}
