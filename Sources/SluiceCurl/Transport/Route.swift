import CCurl
import Glibc
import SluiceLoop
import SluicePipeline

/// How one loop reaches one host and port: the addresses, and whether libcurl has been told them.
///
/// Confined to its loop.
final class Route {
  struct Key: Hashable {
    var host: String
    var port: UInt16
  }

  /// Until then an answer is used as it is.
  static let freshness = Duration.seconds(60)
  /// Until then an old answer is used while a new one is fetched, so that no request waits for a name that was known.
  static let staleness = Duration.seconds(360)
  /// How long an old answer is used before it is asked for again, when the last look-up failed.
  private static let retrying = Duration.seconds(1)
  /// libcurl forgets an address after 60 s; it is told again before that.
  private static let retelling = Duration.seconds(50)

  let key: Key
  /// Whether there is a name to look up at all: not for an address, and not where a proxy does it.
  let needsLookUp: Bool
  /// Where `no_proxy` or SOCKS leave the name to libcurl.
  let isLookedUpByLibcurl: Bool
  var isLookingUp = false
  var waiting: [CurlTransfer] = []
  /// No longer among the transport's routes, so that no address comes here: who has it may go on with it, the next
  /// request gets another.
  var isForgotten = false

  /// Set where connections may carry many transfers.
  @exclusivity(unchecked) var gate: StreamGate?

  private var addresses: [String] = []
  private var resolvedAt: Instant?
  private var refreshesAt = Instant(nanoseconds: 0)
  private var toldUntil = Instant(nanoseconds: 0)
  private var instruction: ResolveInstruction?

  init(_ key: Key, needsLookUp: Bool) {
    self.key = key
    self.needsLookUp = needsLookUp
    isLookedUpByLibcurl = !needsLookUp && !SystemNames.isAddress(key.host)
  }

  /// Whether nobody waits for its address, and nobody is at its gate or has passed it.
  var isIdle: Bool { !isLookingUp && waiting.isEmpty && gate?.isIdle != false }

  /// Whether a transfer can begin at once.
  func isUsable(at now: Instant) -> Bool {
    guard needsLookUp else { return true }
    guard let resolvedAt else { return false }
    return now.duration(since: resolvedAt) < Self.staleness
  }

  func wantsRefresh(at now: Instant) -> Bool {
    needsLookUp && !isLookingUp && resolvedAt != nil && now >= refreshesAt
  }

  func didResolve(to addresses: [String], at now: Instant) {
    resolvedAt = now
    refreshesAt = now + Self.freshness
    guard addresses != self.addresses else { return }
    self.addresses = addresses
    toldUntil = Instant(nanoseconds: 0)
    instruction = ResolveInstruction(key, addresses)
  }

  /// What is known stays in use. Without the pause, each request of a time without a resolver would ask for it.
  func didNotResolve(at now: Instant) { refreshesAt = now + Self.retrying }

  /// What the next handle must tell libcurl; nil where it knows.
  func instruction(at now: Instant) -> ResolveInstruction? {
    needsLookUp && now >= toldUntil ? instruction : nil
  }

  /// A transfer that carried the instruction has connected, so libcurl has read it.
  func didTell(at now: Instant) {
    if needsLookUp { toldUntil = now + Self.retelling }
  }

  /// The addresses did not work: the next transfer asks again.
  func distrust() { resolvedAt = nil }
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
