import CCurl
import Glibc
import SluiceLoop
import SluicePipeline
import SluiceTransport

/// The way from one loop to one host and port: the addresses, and whether libcurl knows them.
///
/// Confined to its loop.
final class Route {
  struct Key: Hashable {
    var host: String
    var port: UInt16
  }

  /// Libcurl forgets an address after 60 s, so it is told the address again before that.
  private static let retelling = Duration.seconds(50)

  let key: Key
  /// Whether there is a name to look up. False if the host is an address, or if libcurl or a proxy looks the name up.
  let needsLookUp: Bool
  /// Whether libcurl looks the name up, because of `no_proxy` or a SOCKS proxy.
  let isLookedUpByLibcurl: Bool
  private var cache = AddressCache()
  var isLookingUp: Bool {
    get { cache.isLookingUp }
    set { cache.isLookingUp = newValue }
  }
  var waiting: [CurlTransfer] = []
  /// Whether the transport has forgotten this route, so that it gets no more addresses. Its transfers can continue with
  /// it, but the next request gets a new route.
  var isForgotten = false

  /// The gate; nil if each connection has only one transfer at a time.
  @exclusivity(unchecked) var gate: StreamGate?

  private var toldUntil = Instant(nanoseconds: 0)
  private var instruction: ResolveInstruction?

  init(_ key: Key, needsLookUp: Bool) {
    self.key = key
    self.needsLookUp = needsLookUp
    isLookedUpByLibcurl = !needsLookUp && !SystemNames.isAddress(key.host)
  }

  /// Whether no transfer uses the route. In this case, no transfer waits for the route's address or at its gate, and
  /// all transfers that have passed the gate have ended.
  var isIdle: Bool { !isLookingUp && waiting.isEmpty && gate?.isIdle != false }

  /// Whether a transfer can begin at once.
  func isUsable(at now: Instant) -> Bool { !needsLookUp || cache.isUsable(at: now) }

  func wantsRefresh(at now: Instant) -> Bool { needsLookUp && cache.wantsRefresh(at: now) }

  func didResolve(to addresses: [String], at now: Instant) {
    guard cache.didResolve(to: addresses, at: now) else { return }
    toldUntil = Instant(nanoseconds: 0)
    instruction = ResolveInstruction(key, addresses)
  }

  func didNotResolve(at now: Instant) { cache.didNotResolve(at: now) }

  /// The addresses that libcurl must get with the next handle; nil if libcurl knows them.
  func instruction(at now: Instant) -> ResolveInstruction? {
    needsLookUp && now >= toldUntil ? instruction : nil
  }

  /// Called when a transfer has connected. Libcurl has therefore read the addresses that it got with the handle.
  func didTell(at now: Instant) {
    if needsLookUp { toldUntil = now + Self.retelling }
  }

  /// Called when the addresses did not work. The next transfer looks the name up again.
  func distrust() { cache.distrust() }
}

/// A `CURLOPT_RESOLVE` list. It must exist as long as a handle may read it.
final class ResolveInstruction {
  let list: UnsafeMutablePointer<curl_slist>?

  init(_ key: Route.Key, _ addresses: [String]) {
    let quoted = addresses.map { $0.contains(":") ? "[\($0)]" : $0 }
    list = curl_slist_append(nil, "+\(key.host):\(key.port):\(quoted.joined(separator: ","))")
  }

  deinit { curl_slist_free_all(list) }
}
