import CCurl
import Glibc
import SluiceLoop
import SluicePipeline
import SluiceTransport

/// How one loop reaches one host and port: the addresses, and whether libcurl has been told them.
///
/// Confined to its loop.
final class Route {
  struct Key: Hashable {
    var host: String
    var port: UInt16
  }

  /// libcurl forgets an address after 60 s, so the route tells it again before that.
  private static let retelling = Duration.seconds(50)

  let key: Key
  /// Whether there is a name to look up: false for an address, and if a proxy looks the name up.
  let needsLookUp: Bool
  /// A route for which `no_proxy` or SOCKS leaves the name to libcurl.
  let isLookedUpByLibcurl: Bool
  private var cache = AddressCache()
  var isLookingUp: Bool {
    get { cache.isLookingUp }
    set { cache.isLookingUp = newValue }
  }
  var waiting: [CurlTransfer] = []
  /// The transport has forgotten this route, so it gets no more addresses. Transfers that have it may continue with it;
  /// the next request gets a new route.
  var isForgotten = false

  /// Set if connections may carry many transfers.
  @exclusivity(unchecked) var gate: StreamGate?

  private var toldUntil = Instant(nanoseconds: 0)
  private var instruction: ResolveInstruction?

  init(_ key: Key, needsLookUp: Bool) {
    self.key = key
    self.needsLookUp = needsLookUp
    isLookedUpByLibcurl = !needsLookUp && !SystemNames.isAddress(key.host)
  }

  /// Whether no transfer waits for the route's address, waits at its gate, or has passed the gate and not ended.
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

  /// The addresses that the next handle must tell libcurl; nil if libcurl knows them.
  func instruction(at now: Instant) -> ResolveInstruction? {
    needsLookUp && now >= toldUntil ? instruction : nil
  }

  /// A transfer with the instruction has connected, so libcurl has read it.
  func didTell(at now: Instant) {
    if needsLookUp { toldUntil = now + Self.retelling }
  }

  /// The addresses did not work: the next transfer looks the name up again.
  func distrust() { cache.distrust() }
}

/// One `CURLOPT_RESOLVE` list, alive as long as a handle may read it.
final class ResolveInstruction {
  let list: UnsafeMutablePointer<curl_slist>?

  init(_ key: Route.Key, _ addresses: [String]) {
    let quoted = addresses.map { $0.contains(":") ? "[\($0)]" : $0 }
    list = curl_slist_append(nil, "+\(key.host):\(key.port):\(quoted.joined(separator: ","))")
  }

  deinit { curl_slist_free_all(list) }
}
