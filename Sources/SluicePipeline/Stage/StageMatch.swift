public import SluiceMessages

/// Which requests a stage is for; everything that is given must hold. Empty lists ask for nothing.
public struct StageMatch: Sendable, Hashable {
  public var hosts: [HostPattern]
  /// Compared with case.
  public var methods: [String]
  public var paths: [PathGlob]

  public init(hosts: [HostPattern] = [], methods: [String] = [], paths: [PathGlob] = []) {
    self.hosts = hosts
    self.methods = methods
    self.paths = paths
  }

  public func matches(_ request: Request) -> Bool { matches(method: request.method, request.url) }

  func matches(_ target: RequestTarget) -> Bool { matches(method: target.method, target.url) }

  private func matches(method: String, _ url: HTTPURL) -> Bool {
    if !methods.isEmpty, !methods.contains(method) { return false }
    if !hosts.isEmpty, !hosts.contains(where: { $0.matches(url.origin) }) { return false }
    if !paths.isEmpty {
      let path = url.path
      return paths.contains { $0.matches(path) }
    }
    return true
  }
}

/// A pattern for a URL's path: `*` stands for any characters but a slash, `**` for any characters, everything else for itself.
public struct PathGlob: Sendable, Hashable {
  enum Part: Sendable, Hashable {
    case text([UInt8])
    case segment
    case anything
  }

  public let pattern: String
  let parts: [Part]

  public init(_ pattern: String) {
    self.pattern = pattern
    var parts: [Part] = []
    var text: [UInt8] = []
    var bytes = Array(pattern.utf8)[...]
    while let byte = bytes.popFirst() {
      guard byte == UInt8(ascii: "*") else {
        text.append(byte)
        continue
      }
      if !text.isEmpty { parts.append(.text(text)) }
      text = []
      if bytes.first == byte {
        bytes.removeFirst()
        parts.append(.anything)
      } else {
        parts.append(.segment)
      }
    }
    if !text.isEmpty { parts.append(.text(text)) }
    self.parts = parts
  }

  public func matches(_ path: String) -> Bool { matches(Array(path.utf8)) }

  /// Follows every position that the parts so far can have reached, so that no pattern takes more than parts × bytes steps.
  private func matches(_ path: [UInt8]) -> Bool {
    var isReached = [Bool](repeating: false, count: path.count + 1)
    isReached[0] = true
    for part in parts {
      switch part {
      case .text(let text): Self.step(over: text, in: path, &isReached)
      case .segment: Self.spread(upTo: UInt8(ascii: "/"), in: path, &isReached)
      case .anything: Self.spread(upTo: nil, in: path, &isReached)
      }
    }
    return isReached[path.count]
  }

  /// Moves every position behind the text that stands there; from the last to the first, to read none that was written.
  private static func step(over text: [UInt8], in path: [UInt8], _ isReached: inout [Bool]) {
    for position in isReached.indices.reversed() {
      let start = position - text.count
      isReached[position] = start >= 0 && isReached[start] && path[start..<position].elementsEqual(text)
    }
  }

  /// Adds to every position those after it, as far as the next `stop`.
  private static func spread(upTo stop: UInt8?, in path: [UInt8], _ isReached: inout [Bool]) {
    var isSpreading = false
    for position in isReached.indices {
      isSpreading = isSpreading || isReached[position]
      isReached[position] = isSpreading
      if position < path.count, path[position] == stop { isSpreading = false }
    }
  }
}
