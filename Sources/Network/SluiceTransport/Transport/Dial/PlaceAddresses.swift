import SluiceLoop
import SluicePipeline

/// The addresses of one host, which several dials need. Only the loop uses it.
final class PlaceAddresses: @unchecked Sendable {
  // Sendable, because the resolver returns the object to its loop.
  typealias Found = Result<[SocketAddress], NameError>

  let place: SocketSettings.Place
  private let transport: HTTPTransport
  private var cache = AddressCache()
  private var waiting: [(Found) -> Void] = []

  init(_ place: SocketSettings.Place, _ transport: HTTPTransport) {
    self.place = place
    self.transport = transport
  }

  /// Passes on the addresses in the order in which they are tried: now if they are known, otherwise after the look-up.
  func find(then use: @escaping (_ found: Found, _ wasLookedUp: Bool) -> Void) {
    let sockets = transport.settings.sockets
    if let given = sockets.addresses(of: place) { return use(.success(usable(given)), false) }
    if SocketAddress(place.host, port: place.port) != nil { return use(.success(usable([place.host])), false) }
    let now = transport.loop.turnBegan
    let isUsable = cache.isUsable(at: now)
    if !isUsable { waiting.append { use($0, true) } }
    if !cache.isLookingUp, !isUsable || cache.wantsRefresh(at: now) {
      cache.isLookingUp = true
      transport.lookUp(place.host) { [self] in didResolve($0) }
    }
    if isUsable { use(.success(usable(cache.addresses)), false) }
  }

  /// Notes that connections to the addresses failed. The next dial looks the name up again.
  func distrust() { cache.distrust() }

  private func didResolve(_ answer: NameResolver.Answer) {
    cache.isLookingUp = false
    let waiting = waiting
    self.waiting = []
    switch answer {
    case .success(let found):
      cache.didResolve(to: found, at: Loop.now)
      for use in waiting { use(.success(usable(cache.addresses))) }
    case .failure(let error):
      cache.didNotResolve(at: Loop.now)
      for use in waiting { use(.failure(error)) }
    }
  }

  private func usable(_ addresses: [String]) -> [SocketAddress] {
    let known = addresses.compactMap { SocketAddress($0, port: place.port) }
    return SocketAddress.interleaved(known.filter { transport.settings.sockets.family.includes($0.family) })
  }
}
