public import SluiceMessages

/// Which requests a stage is for; everything that is given must hold. Empty lists ask for nothing.
///
/// Paths are compared as servers read them, and not as they are spelled (docs/decisions/path-matching.md). Of a path that
/// servers read in two ways, either reading is enough, so that no spelling gets a request past a stage. The URL that is
/// sent stays as it is.
public struct StageMatch: Sendable, Hashable {
  /// One of them must match the scheme, host and port of the hop's URL. Empty matches every host.
  public var hosts: [HostPattern]
  /// Compared with case.
  public var methods: [String]
  /// One of them must match the path. Empty matches every path.
  public var paths: [PathGlob]

  /// Without arguments it matches every request.
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

  /// The readings of the request's path where the match holds for one of them alone, and dot segments let that be another
  /// folder: then the spelling serves nobody but whoever wants the stage to be called, or not called, for another path.
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
