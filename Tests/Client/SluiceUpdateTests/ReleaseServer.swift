import SluiceMessages
import SluiceServer
import SluiceSupport
import SluiceTestKit
import SluiceUpdate
import SluiceUpdateRules

/// A publisher with its keys, and a server for its repository.
final class ReleaseServer: Sendable {
  typealias Answer = @Sendable (_ path: String, _ request: ServerRequest) -> ServerResponse?

  let rootKeys: [SigningKey]
  let releaseKeys: [SigningKey]
  let timestampKey: SigningKey
  let files: TemporaryDirectory
  let publication: Publication
  private let server: EmbeddedServer
  private let requests: Locked<[String]>
  private let answer: Locked<Answer?>
  private let withheld = Locked<[(String, ServerRequest, DeferredResponse)]>([])

  static let plugin = "stamp"

  /// Makes a publisher that has a root and no release.
  init(at now: UpdateMoment = Updater.now(), life: Duration = .seconds(86400)) throws {
    rootKeys = try (0..<3).map { _ in try SigningKey.make() }
    releaseKeys = try (0..<3).map { _ in try SigningKey.make() }
    timestampKey = try SigningKey.make()
    files = try TemporaryDirectory()
    var root = RootDocument(
      version: 1, created: now, expires: now + life, keys: [:],
      roles: [
        .root: .init(keys: Set(rootKeys.map(\.id)), threshold: 2),
        .release: .init(keys: Set(releaseKeys.map(\.id)), threshold: 2),
        .timestamp: .init(keys: [timestampKey.id], threshold: 1),
      ])
    for key in rootKeys + releaseKeys + [timestampKey] { root.keys[key.id] = key.publicKey }
    publication = try Publication.create(files.path("repository"), root: root, signers: Array(rootKeys.prefix(2)))
    let (requests, answer, folder) = (Locked([String]()), Locked(Answer?.none), files.path("repository"))
    (self.requests, self.answer) = (requests, answer)
    server = try EmbeddedServer { request in
      let path = String(request.target.dropFirst())
      requests.withLock { $0.append(path) }
      return answer.withLock { $0 }?(path, request) ?? Self.file("\(folder)/\(path)", request)
    }
  }

  var url: String { server.baseURL }
  var rootFile: String { files.path("repository/root.json") }

  static let timestampPath = "stable/timestamp.json"
  static func releasePath(_ version: Int64) -> String { "stable/\(version).release.json" }
  static func rootPath(_ version: Int64) -> String { "\(version).root.json" }
  static func targetPath(_ hash: String) -> String { "targets/\(hash).so" }

  /// The paths of all requests so far, without the first slash.
  var requestedPaths: [String] { requests.withLock { $0 } }

  /// Sets a closure that responds to requests. If it returns nil, the server sends the file.
  func intercept(_ answer: Answer?) { self.answer.withLock { $0 = answer } }

  /// Sets a closure that responds to requests for this path only.
  func intercept(_ path: String, _ answer: @escaping @Sendable (ServerRequest) -> ServerResponse) {
    intercept { requested, request in requested == path ? answer(request) : nil }
  }

  /// Stops responding to requests for this path. The returned signal is set when such a request has arrived.
  func withhold(_ path: String) -> Signal {
    let (reached, withheld) = (Signal(), withheld)
    intercept(path) { request in
      .deferred { answer in
        withheld.withLock { $0.append((path, request, answer)) }
        reached.set()
      }
    }
    return reached
  }

  /// Responds to the withheld requests, and to all requests from now on.
  func release() {
    intercept(nil)
    let held = withheld.withLock { withheld in
      defer { withheld = [] }
      return withheld
    }
    for (path, request, answer) in held { answer.complete(with: Self.file(self.path(path), request)) }
  }

  /// Returns how often a path was requested.
  func requestCount(_ path: String) -> Int { requestedPaths.count { $0 == path } }

  func path(_ name: String) -> String { files.path("repository/\(name)") }

  /// Returns the bytes of a file, or the part that the header Range asks for.
  static func file(_ path: String, _ request: ServerRequest) -> ServerResponse {
    guard let bytes = try? FileTree.read(path) else { return .text("no such file", status: 404) }
    let range = request.headers.first { $0.name.lowercased() == "range" }?.value ?? ""
    guard range.hasPrefix("bytes="), let first = Int(range.dropFirst(6).prefix { $0.isNumber }), first > 0 else {
      return ServerResponse(body: .bytes(bytes))
    }
    guard first < bytes.count else { return .text("no such range", status: 416) }
    return ServerResponse(
      status: 206, headers: [HeaderLine("Content-Range", "bytes \(first)-\(bytes.count - 1)/\(bytes.count)")],
      body: .bytes(Array(bytes[first...])))
  }

  // MARK: Publishing

  /// Publishes a release with a build of the plugin, and a timestamp for it.
  @discardableResult
  func publish(
    _ build: String, revoking revoked: [String] = [], at now: UpdateMoment = Updater.now(),
    life: Duration = .seconds(86400)
  ) async throws -> Int64 {
    let target = try await target(build)
    return try publish(at: now, life: life) { draft in
      draft.targets = [target]
      draft.revoked.formUnion(revoked)
    }
  }

  func target(_ build: String) async throws -> ReleaseTarget {
    try publication.target(try await StampBuilds.shared.library(build), id: Self.plugin, version: build)
  }

  @discardableResult
  func publish(
    at now: UpdateMoment = Updater.now(), life: Duration = .seconds(86400),
    _ change: (inout ReleaseDocument) -> Void
  ) throws -> Int64 {
    let draft = try publication.edit("stable", at: now, life: life) { draft throws(UpdateError) in change(&draft) }
    _ = try publication.sign("stable", Array(releaseKeys.prefix(2)))
    try stamp(at: now)
    return draft.version
  }

  /// Publishes a timestamp for the newest release.
  func stamp(at now: UpdateMoment = Updater.now(), life: Duration = .seconds(3600)) throws {
    _ = try publication.stamp("stable", [timestampKey], at: now, life: life)
  }
}
