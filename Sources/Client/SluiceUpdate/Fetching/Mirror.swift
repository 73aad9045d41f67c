import Glibc
import SluiceAssembly
import SluiceClient
import Sluice
import SluiceMessages
import SluicePipeline
import SluicePlugin
import SluiceSupport
import SluiceUpdateRules

/// The time limits for a mirror, so that a slow mirror cannot delay an update for long.
package struct MirrorLimits: Sendable {
  /// The limit for one document.
  package var document: Duration
  /// The limit for one build.
  package var build: Duration
  /// The limit for the time in which the server sends nothing.
  package var idle: Duration

  package init(
    document: Duration = .seconds(30), build: Duration = .seconds(600), idle: Duration = .seconds(30)
  ) {
    self.document = document
    self.build = build
    self.idle = idle
  }
}

/// A repository on a static HTTP server. It is fetched by an engine of its own, which has no stages. Nothing that the
/// server sends is trusted.
final class Mirror: Sendable {
  private let base: HTTPURL
  private let client: Client
  private let limits: MirrorLimits

  private init(_ base: HTTPURL, _ client: Client, _ limits: MirrorLimits) {
    self.base = base
    self.client = client
    self.limits = limits
  }

  /// Runs the work with a mirror, and then ends the mirror's engine.
  /// - Parameter settings: the configuration, from which only the proxy and TLS settings are used, not the stages and
  ///   retries.
  static func with<Value>(
    _ base: HTTPURL, _ settings: Configuration, _ limits: MirrorLimits,
    _ work: (Mirror) async throws(UpdateError) -> Value
  ) async throws(UpdateError) -> Value {
    var configuration = Configuration()
    configuration.transport.tls.ca = settings.transport.tls.ca
    configuration.transport.proxy = settings.transport.proxy
    configuration.transport.connectTimeout = settings.transport.connectTimeout
    configuration.transport.loops = 1
    configuration.deadline = max(limits.document, limits.build)
    let client: Client
    do { client = try Client(configuration, delegate: SameOrigin()) } catch {
      throw UpdateError(.network, "\(base)", "\(error)")
    }
    let result: Result<Value, UpdateError>
    do throws(UpdateError) { result = .success(try await work(Mirror(base, client, limits))) } catch {
      result = .failure(error)
    }
    await client.shutdown(drain: .zero)
    return try result.get()
  }

  /// Fetches a document; nil if the server does not have it.
  func document(_ path: String, limitBytes: Int) async throws(UpdateError) -> [UInt8]? {
    let url = try self.url(path)
    var request = Request(url: url)
    request.options.attemptTimeout = limits.document
    let (body, response) = try await open(request, url)
    // Object stores answer 403 for an object that does not exist.
    if [403, 404, 410].contains(response.status) { return nil }
    try Self.check(response.status, url)
    var bytes: [UInt8] = []
    try await Self.read(body, url) { piece throws(UpdateError) in
      bytes += piece
      guard bytes.count <= limitBytes else { throw Self.tooLarge(url, limitBytes) }
    }
    return bytes
  }

  /// Fetches a build into the folder. If an earlier download was interrupted, fetches only the missing bytes. The hash
  /// and the length are compared before the file gets its final name.
  func download(_ target: ReleaseTarget, into folder: UpdateFolder) async throws(UpdateError) {
    let url = try self.url("targets/\(target.sha256).so")
    let part = folder.downloadPath(target.sha256)
    guard let file = FileDescriptor(opening: part, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600) else {
      throw DurableFile.failure(part, "cannot be opened")
    }
    guard file.status()?.isRegularFile == true else { throw UpdateError(.state, part, "is not a regular file") }
    let build = try PartialBuild(file, part, target)
    if build.count < target.length { try await fetch(url, build) }
    do throws(UpdateError) { try build.finish("\(url)") } catch {
      // The downloaded bytes are dropped if their hash is wrong, so that the next download does not continue them.
      unlink(part)
      throw error
    }
    let path = folder.buildPath(target.sha256)
    guard rename(part, path) == 0 else { throw DurableFile.failure(path, "cannot be written") }
    try DurableFile.syncFolder(of: path)
  }

  private func fetch(_ url: HTTPURL, _ build: PartialBuild) async throws(UpdateError) {
    var request = Request(url: url)
    request.options.attemptTimeout = limits.build
    if build.count > 0 { request.headers["range"] = "bytes=\(build.count)-" }
    let (body, response) = try await open(request, url)
    switch response.status {
    case 206 where response.headers["content-range"]?.hasPrefix("bytes \(build.count)-") == true: break
    case 200: try build.begin()
    case 206, 416:
      // The file on the server no longer fits the bytes that were downloaded, so the next download begins again.
      try build.begin()
      throw UpdateError(.network, "\(url)", "the download cannot be continued; it begins again at the next update")
    default: try Self.check(response.status, url)
    }
    try await Self.read(body, url) { piece throws(UpdateError) in try build.append(piece, "\(url)") }
  }

  // MARK: Requests

  private func url(_ path: String) throws(UpdateError) -> HTTPURL {
    do { return try HTTPURL("\(base)/\(path)") } catch {
      throw UpdateError(.network, "\(base)/\(path)", error.reason)
    }
  }

  private func open(
    _ request: Request, _ url: HTTPURL
  ) async throws(UpdateError) -> (ResponseChunks, Response) {
    var request = request
    // No content coding is accepted, because the lengths and hashes in a release are those of the files as they are
    // stored.
    request.options.decodesContent = false
    request.options.idleTimeout = limits.idle
    request.options.maximumResponseBytes = Int(ReleaseTarget.limitBytes)
    do {
      let (bytes, response) = try await client.bytes(for: request)
      return (bytes.chunks, response)
    } catch { throw Self.failure(error, url) }
  }

  private static func read(
    _ body: ResponseChunks, _ url: HTTPURL, _ take: ([UInt8]) throws(UpdateError) -> Void
  ) async throws(UpdateError) {
    var chunks = body.makeAsyncIterator()
    while true {
      let chunk: [UInt8]?
      do { chunk = try await chunks.next() } catch { throw failure(error, url) }
      guard let chunk else { return }
      try take(chunk)
    }
  }

  private static func check(_ status: Int, _ url: HTTPURL) throws(UpdateError) {
    if status == 200 || status == 206 { return }
    let isRedirect = (300...399).contains(status)
    throw UpdateError(
      .network, "\(url)",
      isRedirect ? "it redirects to another origin (status \(status)), which is not followed" : "status \(status)")
  }

  fileprivate static func tooLarge(_ url: HTTPURL, _ limit: Int) -> UpdateError {
    UpdateError(.tooLarge, "\(url)", "it has more than \(limit) bytes")
  }

  private static func failure(_ error: TransactionError, _ url: HTTPURL) -> UpdateError {
    UpdateError(.network, "\(url)", "\(error.code.rawValue): \(error.message)")
  }
}

/// Follows only redirects to the same origin, because the configuration decides which server is asked.
private struct SameOrigin: TransactionDelegate {
  func transaction(_ context: ResponseContext, willFollow redirect: Redirect) async throws -> RedirectDecision {
    redirect.isCrossOrigin ? .takeResponse : .follow
  }
}

/// A build that is being downloaded.
private final class PartialBuild {
  private let file: FileDescriptor
  private let path: String
  private let target: ReleaseTarget
  private var hash: StreamingHash
  private(set) var count: Int64 = 0

  /// Reads and hashes the bytes that an earlier download has left.
  init(_ file: consuming FileDescriptor, _ path: String, _ target: ReleaseTarget) throws(UpdateError) {
    guard let hash = StreamingHash() else { throw Ed25519Verifier.unavailable }
    self.hash = hash
    self.path = path
    self.target = target
    self.file = file
    while let piece = DescriptorPiece.read(self.file.raw), !piece.isEmpty {
      hash.add(piece)
      count += Int64(piece.count)
    }
    if count > target.length { try begin() }
  }

  /// Drops the bytes that were downloaded so far.
  func begin() throws(UpdateError) {
    guard let hash = StreamingHash() else { throw Ed25519Verifier.unavailable }
    guard ftruncate(file.raw, 0) == 0, lseek(file.raw, 0, SEEK_SET) == 0 else {
      throw DurableFile.failure(path, "cannot be written")
    }
    self.hash = hash
    count = 0
  }

  func append(_ piece: [UInt8], _ source: String) throws(UpdateError) {
    guard count + Int64(piece.count) <= target.length else {
      throw UpdateError(.tooLarge, source, "it has more than the \(target.length) bytes that the release names")
    }
    guard file.writeAll(piece) else { throw DurableFile.failure(path, "cannot be written") }
    hash.add(piece)
    count += Int64(piece.count)
  }

  /// Compares the content with the release, and waits until it is on disk.
  func finish(_ source: String) throws(UpdateError) {
    guard count >= target.length else {
      throw UpdateError(.mismatch, source, "it has \(count) bytes, expected \(target.length)")
    }
    try UpdateRules.check(
      source, length: count, hash: hash.finish(), expectedLength: target.length, expectedHash: target.sha256)
    guard fsync(file.raw) == 0 else { throw DurableFile.failure(path, "cannot be written") }
  }
}
