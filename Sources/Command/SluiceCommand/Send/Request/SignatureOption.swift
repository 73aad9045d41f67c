import AWSSignatureRules
import AWSSignatureStage
import Sluice
import SluiceLoop
import SluiceMessages
import SluicePlugin
import SluiceSupport

/// `--aws-sigv4`: signs each hop and each retry, after all other stages, as the shipped plugin aws-sigv4 does.
///
/// As with curl, only the origin of the request gets a signature, unless `--location-trusted` is given.
final class SignatureOption: Sendable {
  private let value: String
  private let credentials: [UInt8]
  private let reach: SigningStage.Reach
  /// Whether `-H` gives or removes `Authorization`.
  private let isOff = Locked(false)

  /// Returns nil if the option is not given.
  init?(_ arguments: ParsedArguments) {
    guard let value = arguments["aws-sigv4"] else { return nil }
    self.value = value
    credentials = arguments.bytes("user") ?? []
    reach = arguments.has("location-trusted") ? .everyOrigin : .firstOrigin
  }

  func append(to configuration: inout Configuration) {
    let stage = SigningStage(reach, .signedIfKnown, keepsDate: true) { _, body in
      try await Self.run(body)
    } signer: { [self] url throws(StageFailure) in
      do throws(CommandError) { return try signer(url.host) } catch { throw StageFailure(message: error.message) }
    }
    configuration.addStage("send --aws-sigv4", StageCode(Switch(stage: stage, isOff: isOff)))
  }

  /// Signs no request. All requests of a command have the same fields of `-H`.
  func turnOff() { isOff.withLock { $0 = true } }

  /// Refuses a request that cannot be signed, before anything is sent.
  func check(_ request: Request) throws(CommandError) {
    let signer = try signer(request.url.host)
    guard case .stream = request.body, !signer.isS3, !request.headers.contains(signer.bodyHashName) else { return }
    throw CommandError(
      .usage, "--aws-sigv4: the body must be known before it is signed; write it to a file, and name that")
  }

  /// Reads `PROVIDER1[:PROVIDER2[:REGION[:SERVICE]]]` and `KEY-ID:SECRET`. If region and service are not given, they are
  /// taken from the host, `SERVICE.REGION.…`.
  private func signer(_ host: String) throws(CommandError) -> RequestSigner {
    let parts = value.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    let labels = SystemNames.isAddress(host) ? [] : host.split(separator: ".").map(String.init)
    guard (1...4).contains(parts.count), !parts.contains("") else {
      throw CommandError(
        .usage, "--aws-sigv4: expected PROVIDER1[:PROVIDER2[:REGION[:SERVICE]]], found \(PlainText.quote(value))")
    }
    guard let service = parts.count > 3 ? parts[3] : labels.first, labels.count > 2 || parts.count > 3,
      let region = parts.count > 2 ? parts[2] : labels.dropFirst().first
    else {
      throw CommandError(
        .usage,
        "--aws-sigv4: the host \(PlainText.quote(host)) does not say the service and the region, as SERVICE.REGION.… does;"
          + " give aws:amz:REGION:SERVICE")
    }
    guard let colon = credentials.firstIndex(of: UInt8(ascii: ":")) else {
      throw CommandError(.usage, "--aws-sigv4 needs -u KEY-ID:SECRET")
    }
    let key = SigningKey(id: Array(credentials[..<colon]), secret: Array(credentials[(colon + 1)...]))
    let provider = RequestSigner.Provider(algorithm: parts[0], header: parts.count > 1 ? parts[1] : parts[0])
    return RequestSigner(key, region: region, service: service, provider: provider, hash: ContentDigest.hash)
  }

  /// Hashes a body on a thread, because reading a file blocks.
  private static func run(_ body: @escaping @Sendable () throws -> String) async throws -> String {
    try await withCheckedThrowingContinuation { continuation in
      let isStarted = SystemThread.start(named: "sluice-hash") {
        Result(catching: body)
      } then: {
        continuation.resume(with: $0)
      }
      if !isStarted {
        continuation.resume(throwing: StageFailure(message: "no thread can be started to hash the body"))
      }
    }
  }

  /// The stage, which does nothing if the signature is turned off.
  private struct Switch: RequestInterceptor, IssueInterceptor {
    let stage: SigningStage
    let isOff: Locked<Bool>

    func intercept(_ request: StageRequest, context: RequestContext) async throws {
      if !isOff.withLock({ $0 }) { try await stage.intercept(request, context: context) }
    }

    func interceptIssue(_ request: StageRequest, context: RequestContext) throws {
      if !isOff.withLock({ $0 }) { try stage.interceptIssue(request, context: context) }
    }
  }
}
