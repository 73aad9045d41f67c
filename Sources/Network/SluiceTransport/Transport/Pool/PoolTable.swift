import SluiceLoop
import SluiceMessages
import SluicePipeline

/// The pools of a transport, and the idle connections in all of them. Only the loop uses it.
final class PoolTable {
  /// The number of pools at which the table begins to forget pools that have no connection.
  static let rememberedPools = 4096
  /// An idle connection is closed after this time. Many servers close their idle connections after 60 or 75 seconds.
  static let idleLimit = Duration.seconds(90)
  /// The maximum number of idle connections that are kept. If more transfers are in flight, the limit is the number of
  /// these transfers.
  private static let idleConnections = 256

  private let loop: Loop
  @exclusivity(unchecked) private var pools: [PoolKey: OriginPool] = [:]
  /// The URL, the origin and the pool of the last request, because the next request often has the same origin or even
  /// the same URL.
  @exclusivity(unchecked) private var lastURL: HTTPURL?
  @exclusivity(unchecked) private var lastOrigin: Origin?
  @exclusivity(unchecked) private var lastPool: OriginPool?
  private var lastNumber: UInt64 = 0
  /// The number of idle connections.
  @exclusivity(unchecked) private(set) var idleCount = 0
  private let idleTimer = LoopTimer()

  init(_ loop: Loop) { self.loop = loop }

  var isEmpty: Bool { pools.isEmpty }

  /// The shared pool of an origin, for transfers whose connection needs nothing special.
  @inline(__always)
  func pool(for url: HTTPURL, _ transport: HTTPTransport) -> OriginPool {
    if let lastPool, let lastOrigin, url == lastURL || url.isAt(lastOrigin) { return lastPool }
    return findPool(for: url, transport)
  }

  private func findPool(for url: HTTPURL, _ transport: HTTPTransport) -> OriginPool {
    let origin = url.origin
    let pool = pool(PoolKey(origin, transport.proxies, transport.settings), transport)
    lastURL = url
    lastOrigin = origin
    lastPool = pool
    return pool
  }

  func pool(_ key: PoolKey, _ transport: HTTPTransport) -> OriginPool {
    if let pool = pools[key] { return pool }
    if pools.count >= Self.rememberedPools {
      for (key, pool) in pools where pool.isUnused { pools[key] = nil }
      lastPool = nil
      lastURL = nil
    }
    let pool = OriginPool(key, transport)
    pools[key] = pool
    return pool
  }

  /// The number of the next pool for a single transfer.
  func nextNumber() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }

  /// Forgets the pool of a single transfer, which is no longer used.
  func forget(_ pool: OriginPool) { pools[pool.key] = nil }

  /// Closes all connections.
  func close() {
    loop.disarm(idleTimer)
    lastPool = nil
    for pool in pools.values { pool.close() }
    pools = [:]
  }

  // MARK: Idle connections

  /// Whether another idle connection is kept open.
  /// - Parameter transfers: the number of transfers in flight.
  func keepsMoreIdle(beside transfers: Int) -> Bool { idleCount < max(Self.idleConnections, transfers) }

  /// Called when a connection has become idle. Starts the timer that closes idle connections.
  @inline(__always)
  func beginIdle(_ connection: HTTPConnection) {
    connection.isIdle = true
    connection.idleSince = loop.turnBegan
    idleCount += 1
    if !idleTimer.isArmed { loop.arm(idleTimer, at: loop.turnBegan + Self.idleLimit, for: self) }
  }

  /// Called when an idle connection is used again or was closed.
  @inline(__always)
  func endIdle(_ connection: HTTPConnection) {
    connection.isIdle = false
    idleCount -= 1
  }

  /// Closes the idle connection that was used least recently. Returns false if no connection is idle.
  func closeOldestIdle() -> Bool {
    let oldest = pools.values.compactMap(\.oldestIdle).min { $0.idleSince < $1.idleSince }
    oldest?.closeIdle()
    return oldest != nil
  }
}

extension PoolTable: LoopTimerTarget {
  func timerDidFire(_ timer: LoopTimer) {
    var oldest: Instant?
    for pool in pools.values {
      guard let since = closeIdle(of: pool) else { continue }
      oldest = min(oldest ?? since, since)
    }
    if let oldest { loop.arm(idleTimer, at: oldest + Self.idleLimit, for: self) }
  }

  /// Closes connections that have been idle for too long. Returns the time at which the oldest of the remaining idle
  /// connections became idle.
  private func closeIdle(of pool: OriginPool) -> Instant? {
    while let oldest = pool.oldestIdle {
      guard oldest.idleSince + Self.idleLimit <= loop.turnBegan else { return oldest.idleSince }
      oldest.closeIdle()
    }
    return nil
  }
}
