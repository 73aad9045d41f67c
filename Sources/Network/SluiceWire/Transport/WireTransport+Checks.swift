import Glibc
package import SluiceMessages
package import SluicePipeline

// What can be found out about the settings before the first request.
extension WireTransport {
  /// Reads the files that the settings name for TLS, as the first connection over TLS would, and their lists of ciphers.
  /// Leaves out the files if one of them is a pipe or a terminal, which can be read only once. Libcurl reads them with
  /// OpenSSL too.
  ///
  /// - Throws: an error if OpenSSL cannot use the settings.
  package static func checkTLS(_ settings: TransportSettings) throws(TransportError) {
    var tls = settings.tls
    // Libcurl reads the authorities, but does not need them, if it does not verify the server.
    if settings.needsCurl, !tls.verify { tls.ca = nil }
    if ![tls.ca, tls.certificate, tls.key].compactMap(\.self).allSatisfy(canBeReadAgain) {
      (tls.ca, tls.certificate, tls.key) = (nil, nil, nil)
    }
    let hasCiphers = tls.ciphers.tls12 != nil || tls.ciphers.tls13 != nil
    guard hasCiphers || tls.ca != nil || tls.certificate != nil else { return }
    do { _ = try TLSContext(tls, offersHTTP2: false) } catch { throw WireFailure.files(error, settings) }
  }

  /// Whether the path names a file, or a folder, which is refused at once.
  private static func canBeReadAgain(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
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
