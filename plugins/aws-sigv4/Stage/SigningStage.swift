package import AWSSignatureRules
import Glibc
package import SluiceMessages
package import SluicePlugin

/// Signs each hop of a request, with the time of the hop.
///
///     on_request   hashes a large body, and refuses a body that cannot be hashed
///     on_issue     hashes a small body, signs, and sets the headers for this hop
///
/// The stage must come after all stages that change the request. `sluice send --aws-sigv4` uses it too.
package struct SigningStage: RequestInterceptor, IssueInterceptor {
  /// Which hops are signed.
  package enum Reach: Sendable {
    /// Hops to listed hosts, unless the request has an `Authorization`.
    case hosts(HostList)
    /// Hops to the origin of the first hop, as curl does it.
    case firstOrigin
    case everyOrigin
  }

  package enum Payload: Sendable {
    case signed
    /// If the service is S3, a streamed body is not signed.
    case signedIfKnown
    case unsigned
  }

  /// Runs a function that blocks, away from the loop.
  package typealias Work = @Sendable (StageRequest, @escaping @Sendable () throws -> String) async throws -> String

  /// What is known since the request stage of the attempt.
  private struct Begun: Sendable {
    let signer: RequestSigner
    let origin: Origin
    var body: HashedBody?
  }

  private struct HashedBody: Sendable {
    let byteCount: UInt64
    let file: String?
    let hash: String
  }

  /// A larger body is hashed once in each attempt, away from the loop. A smaller one is hashed in each hop, so that it may
  /// change after the request stage.
  private static let smallBytes = 16_384

  private let reach: Reach
  private let payload: Payload
  /// Whether a date that the request already has is used, as curl does it.
  private let keepsDate: Bool
  private let signer: @Sendable (HTTPURL) throws(StageFailure) -> RequestSigner
  private let wallClock: @Sendable () -> Duration
  private let work: Work

  /// - Parameters:
  ///   - wallClock: the time since 1970, called for each hop.
  ///   - signer: makes the signer for a request from its URL.
  package init(
    _ reach: Reach, _ payload: Payload, keepsDate: Bool = false,
    wallClock: @escaping @Sendable () -> Duration = Self.systemClock, work: @escaping Work,
    signer: @escaping @Sendable (HTTPURL) throws(StageFailure) -> RequestSigner
  ) {
    (self.reach, self.payload, self.keepsDate, self.signer, self.work) = (reach, payload, keepsDate, signer, work)
    self.wallClock = wallClock
  }

  package func intercept(_ request: StageRequest, context: RequestContext) async throws {
    request.transactionData = nil
    if case .hosts(let hosts) = reach, !hosts.contains(request) || Self.isSigned(request) { return }
    let url = try HTTPURL(request.url)
    let signer = try signer(url)
    var begun = Begun(signer: signer, origin: url.origin)
    if payload != .unsigned, request.headers[signer.bodyHashName] == nil {
      begun.body = try await hashed(request, signer)
    }
    request.transactionData = begun
  }

  package func interceptIssue(_ request: StageRequest, context: RequestContext) throws {
    let begun = request.transactionData as? Begun
    let url = try HTTPURL(request.url)
    switch reach {
    case .hosts(let hosts): guard hosts.contains(request), !Self.isSigned(request) else { return }
    case .firstOrigin: guard begun?.origin == url.origin else { return }
    case .everyOrigin: break
    }
    let signer = try begun?.signer ?? signer(url)
    var headers = HeaderFields()
    request.headers.withEachField { name, value in
      headers.append(name.bindMemory(to: UInt8.self).span, value.bindMemory(to: UInt8.self).span)
    }
    let date = keepsDate ? headers[signer.dateName] : nil
    let fields = try signer.fields(
      method: request.method, url: url, headers: headers,
      bodyHash: try headers[signer.bodyHashName] ?? bodyHash(request, signer, begun?.body),
      date: date ?? SigningTime.text(Int(wallClock().components.seconds)))
    for field in fields { try Self.set(field, on: request) }
  }

  /// `time` is not used, because it can be a tick behind.
  package static let systemClock: @Sendable () -> Duration = {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return .seconds(time.tv_sec)
  }

  private static func isSigned(_ request: StageRequest) -> Bool { request.headers.bytes("authorization") != nil }

  private static func set(_ field: RequestSigner.Field, on request: StageRequest) throws {
    request.headers.remove(field.name)
    try Array(field.name.utf8).withUnsafeBytes { name in
      try field.value.withUnsafeBytes { try request.headers.add($0, for: name) }
    }
    if field.isSecret { request.headers.setSensitive(field.name) }
  }
}

// The hash of the body.
extension SigningStage {
  /// Returns the hash of a large body. Returns nil without a body, for a small one, and for one that is not signed.
  private func hashed(_ request: StageRequest, _ signer: RequestSigner) async throws -> HashedBody? {
    if let bytes = request.body {
      guard bytes.count > Self.smallBytes else { return nil }
      let hash = try await work(request) { try Hash.hexadecimal(of: bytes, ContentDigest.hash) }
      return HashedBody(byteCount: UInt64(bytes.count), file: nil, hash: hash)
    }
    if let file = request.bodyFile {
      let hash = try await work(request) { try ContentDigest.hexadecimal(of: file) }
      return HashedBody(byteCount: file.byteCount, file: file.path, hash: hash)
    }
    if request.isBodyStreamed { try checkStreaming(signer) }
    return nil
  }

  /// What is signed for the body of this hop. A redirect can have removed the body.
  private func bodyHash(_ request: StageRequest, _ signer: RequestSigner, _ known: HashedBody?) throws -> String {
    guard payload != .unsigned else { return RequestSigner.unsignedPayload }
    if let bytes = request.body {
      if bytes.count <= Self.smallBytes { return try Hash.hexadecimal(of: bytes, ContentDigest.hash) }
      guard let known, known.file == nil, known.byteCount == UInt64(bytes.count) else { throw Self.unknownBody }
      return known.hash
    }
    if let file = request.bodyFile {
      guard let known, known.file == file.path, known.byteCount == file.byteCount else { throw Self.unknownBody }
      return known.hash
    }
    guard request.isBodyStreamed else { return try Hash.hexadecimal(of: [], ContentDigest.hash) }
    try checkStreaming(signer)
    return RequestSigner.unsignedPayload
  }

  /// Refuses a streamed body, unless it need not be signed.
  private func checkStreaming(_ signer: RequestSigner) throws(StageFailure) {
    guard payload != .signedIfKnown || !signer.isS3 else { return }
    throw StageFailure(
      code: Self.code,
      message: "the body is streamed, so its hash cannot be signed: give the body in memory or in a file, or the"
        + " header \(signer.bodyHashName), or do not sign the body where the service allows that")
  }

  private static let code: ErrorCode = "body_not_hashed"

  private static var unknownBody: StageFailure {
    StageFailure(
      code: code,
      message:
        "this body was not hashed before the request was sent: list this stage at the end of \"request\" too, and"
        + " let no later stage and no other host give the request its body")
  }
}
