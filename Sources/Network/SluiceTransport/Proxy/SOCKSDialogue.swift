import SluiceMessages
import SluicePipeline

/// A connection through a SOCKS 4 or 4a proxy.
struct SOCKS4Dialogue: TunnelDialogue {
  let opening: [UInt8]
  private var reply: [UInt8] = []
  private static let replyBytes = 8

  /// - Throws: if SOCKS 4 cannot express the target.
  init(_ target: TunnelTarget, _ proxy: Proxy) throws(ProxyFault) {
    var request: [UInt8] = [4, 1, UInt8(target.port >> 8), UInt8(target.port & 0xFF)]
    let user = (proxy.credentials?.user ?? []) + [0]
    if let address = target.address, !Self.announcesName(address) {
      guard address.count == 4 else {
        throw ProxyFault(reason: "SOCKS 4 takes no IPv6 address; use a proxy with SOCKS 5")
      }
      request += address + user
    } else {
      guard target.address == nil || proxy.kind != .socks4 else {
        throw ProxyFault(reason: "SOCKS 4 takes no address that begins with 0.0.0; use a proxy with SOCKS 5")
      }
      guard target.host.utf8.count <= 255 else { throw ProxyFault(reason: "the name is longer than SOCKS allows") }
      request += [0, 0, 0, 1] + user + Array(target.host.utf8) + [0]
    }
    opening = request
  }

  /// Whether SOCKS 4a takes an address for the announcement of a name. The address itself is then sent as a name.
  private static func announcesName(_ address: [UInt8]) -> Bool {
    address.count == 4 && address.starts(with: [0, 0, 0]) && address[3] != 0
  }

  mutating func receive(_ bytes: Span<UInt8>) -> (count: Int, next: TunnelStep) {
    let count = reply.fill(to: Self.replyBytes, from: bytes)
    guard reply[0] == 0 else { return (count, .notSOCKS(reply[0])) }
    guard reply.count == Self.replyBytes else { return (count, .more) }
    return (count, reply[1] == 90 ? .open : .refused(Self.refusal(reply[1])))
  }

  private static func refusal(_ code: UInt8) -> TunnelRefusal {
    TunnelRefusal(reason: words(code), isOfTarget: code == 91)
  }

  private static func words(_ code: UInt8) -> String {
    switch code {
    case 91: "it refused the connection, or could not make it (SOCKS 4, code 91)"
    case 92: "it could not ask the ident service of this machine about the user (SOCKS 4, code 92)"
    case 93: "the ident service of this machine names another user (SOCKS 4, code 93)"
    default: "it refused the connection (SOCKS 4, code \(code))"
    }
  }
}

/// A connection through a SOCKS 5 proxy (RFC 1928), with or without a user and a password (RFC 1929).
struct SOCKS5Dialogue: TunnelDialogue {
  private enum Stage {
    case method, password, reply
  }

  let opening: [UInt8]
  private let request: [UInt8]
  private let credentials: Credentials?
  private var stage = Stage.method
  private var reply: [UInt8] = []

  /// - Throws: if SOCKS 5 cannot express the target.
  init(_ target: TunnelTarget, _ proxy: Proxy) throws(ProxyFault) {
    credentials = proxy.credentials
    opening = credentials == nil ? [5, 1, 0] : [5, 2, 0, 2]
    var request: [UInt8] = [5, 1, 0]
    if let address = target.address {
      request += [address.count == 4 ? 1 : 4] + address
    } else {
      guard let count = UInt8(exactly: target.host.utf8.count) else {
        throw ProxyFault(reason: "the name is longer than SOCKS allows")
      }
      request += [3, count] + Array(target.host.utf8)
    }
    self.request = request + [UInt8(target.port >> 8), UInt8(target.port & 0xFF)]
  }

  mutating func receive(_ bytes: Span<UInt8>) -> (count: Int, next: TunnelStep) {
    let (count, next) = stage == .reply ? receiveReply(bytes) : receiveAnswer(bytes)
    if case .more = next {} else { reply = [] }
    return (count, next)
  }

  /// The two bytes that choose a method, or that accept the password.
  private mutating func receiveAnswer(_ bytes: Span<UInt8>) -> (Int, TunnelStep) {
    let count = reply.fill(to: 2, from: bytes)
    guard reply[0] == (stage == .method ? 5 : 1) else { return (count, .notSOCKS(reply[0])) }
    guard reply.count == 2 else { return (count, .more) }
    switch (stage, reply[1], credentials) {
    case (.method, 0, _), (.password, 0, _):
      stage = .reply
      return (count, .send(request))
    case (.method, 2, let credentials?):
      stage = .password
      let (user, password) = (credentials.user, credentials.password)
      return (count, .send([1, UInt8(user.count)] + user + [UInt8(password.count)] + password))
    case (.method, 0xFF, nil):
      return (count, .refused(TunnelRefusal(reason: "it demands a user and a password, or another kind of proof")))
    case (.method, 2, nil):
      return (count, .refused(TunnelRefusal(reason: "it demands a user and a password (SOCKS 5)")))
    case (.method, 0xFF, _):
      let reason = "it accepts neither a user with a password nor a client without them (SOCKS 5)"
      return (count, .refused(TunnelRefusal(reason: reason)))
    case (.method, let method, _):
      return (count, .refused(TunnelRefusal(reason: "it chose method \(method), which was not offered (SOCKS 5)")))
    default: return (count, .refused(TunnelRefusal(reason: "it refused the user or the password (SOCKS 5)")))
    }
  }

  private mutating func receiveReply(_ bytes: Span<UInt8>) -> (Int, TunnelStep) {
    var count = reply.fill(to: 5, from: bytes)
    guard reply[0] == 5 else { return (count, .notSOCKS(reply[0])) }
    guard reply.count >= 2 else { return (count, .more) }
    guard reply[1] == 0 else { return (count, .refused(Self.refusal(reply[1]))) }
    guard reply.count >= 5 else { return (count, .more) }
    // The bound address of the proxy follows, which nobody needs: IPv4, IPv6, or a name with its length before it.
    let addressBytes: Int
    switch reply[3] {
    case 1: addressBytes = 4
    case 3: addressBytes = Int(reply[4]) + 1
    case 4: addressBytes = 16
    default:
      return (count, .refused(TunnelRefusal(reason: "its reply has an unknown kind of address, \(reply[3]) (SOCKS 5)")))
    }
    let total = 4 + addressBytes + 2
    count += reply.fill(to: total, from: bytes.extracting(count..<bytes.count))
    return (count, reply.count == total ? .open : .more)
  }

  private static func refusal(_ code: UInt8) -> TunnelRefusal {
    TunnelRefusal(reason: words(code), isOfTarget: [1, 3, 4, 5, 6, 8].contains(code))
  }

  private static func words(_ code: UInt8) -> String {
    let reason =
      switch code {
      case 1: "general failure"
      case 2: "not allowed by its rules"
      case 3: "network unreachable"
      case 4: "host unreachable"
      case 5: "connection refused"
      case 6: "TTL expired"
      case 7: "command not supported"
      case 8: "kind of address not supported"
      default: "unknown reason"
      }
    return "it could not connect: \(reason) (SOCKS 5, code \(code))"
  }
}

extension TunnelDialogue {
  func refusalAtEnd() -> TunnelRefusal? { nil }
}

extension TunnelStep {
  fileprivate static func notSOCKS(_ byte: UInt8) -> Self {
    .refused(TunnelRefusal(reason: "it does not speak this version of SOCKS: its answer begins with \(byte)"))
  }
}

extension [UInt8] {
  /// Appends bytes until the array has `total`. Returns how many were taken.
  fileprivate mutating func fill(to total: Int, from bytes: Span<UInt8>) -> Int {
    let count = Swift.min(Swift.max(0, total - self.count), bytes.count)
    for index in 0..<count { append(bytes[index]) }
    return count
  }
}
