public import SluiceMessages

/// The requests for which a stage is called. All given conditions must hold; an empty list is no condition.
///
/// Paths are compared as servers read them, and not as they are spelled (docs/decisions/path-matching.md). If servers
/// read a path in two ways, one matching reading is enough, so that no spelling gets a request past a stage. The sent
/// URL does not change.
public struct StageMatch: Sendable, Hashable {
  /// One of these patterns must match the scheme, host and port of the hop's URL. An empty list matches every host.
  public var hosts: [HostPattern]
  /// Case-sensitive.
  public var methods: [String]
  /// One of these patterns must match the path. An empty list matches every path.
  public var paths: [PathGlob]

  /// Without arguments the match holds for every request.
  public init(hosts: [HostPattern] = [], methods: [String] = [], paths: [PathGlob] = []) {
    self.hosts = hosts
    self.methods = methods
    self.paths = paths
  }

  package func matches(_ request: Request) -> Bool { matches(method: request.method, request.url) }

  func matches(_ target: RequestTarget) -> Bool { matches(method: target.method, target.url) }

  private func matches(method: String, _ url: HTTPURL) -> Bool {
    guard isForTarget(method, url) else { return false }
    guard !paths.isEmpty else { return true }
    return url.withPath { path in
      if PathReadings.isPlain(path) { return isForPath(path) }
      let readings = PathReadings(path)
      if isForPath(readings.standard.utf8.span) { return true }
      return readings.lenient.map { isForPath($0.utf8.span) } ?? false
    }
  }

  /// Returns the readings of the request's path if the match holds for only one of them, and dot segments make them
  /// lead to different folders; otherwise nil. Such a path serves only to mislead the engine: a stage is called, or not
  /// called, for the wrong path.
  func disputedReadings(of request: Request) -> PathReadings? {
    guard !paths.isEmpty, isForTarget(request.method, request.url) else { return nil }
    return request.url.withPath { path in
      if PathReadings.isPlain(path) { return nil }
      let readings = PathReadings(path)
      guard readings.hasDotSegments, let lenient = readings.lenient else { return nil }
      return isForPath(readings.standard.utf8.span) != isForPath(lenient.utf8.span) ? readings : nil
    }
  }

  private func isForTarget(_ method: String, _ url: HTTPURL) -> Bool {
    if !methods.isEmpty, !methods.contains(method) { return false }
    return hosts.isEmpty || hosts.contains { $0.matches(url.origin) }
  }

  private func isForPath(_ path: Span<UInt8>) -> Bool {
    var index = 0
    while index < paths.count {
      if paths[index].matches(path) { return true }
      index += 1
    }
    return false
  }
}
