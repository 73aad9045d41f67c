import Glibc
import SluiceCurl
import SluiceLoop
import SluicePipeline
import SluiceWire
import Testing

/// The transports that tests run over.
enum TransportKind: String, CaseIterable, Sendable {
  case curl, wire

  /// The transport of the test that runs.
  @TaskLocal static var current = TransportKind.curl

  func make(
    loop: Loop, settings: TransportSettings, resolver: NameResolver
  ) throws(TransportError) -> any TestedTransport {
    switch self {
    case .curl: try CurlTransport(loop: loop, settings: settings, resolver: resolver)
    case .wire: try WireTransport(loop: loop, settings: settings, resolver: resolver)
    }
  }
}

/// What the tests see of a transport.
protocol TestedTransport: Transport, Sendable {
  /// Transfers that have not ended.
  var transferCount: Int { get }
}

extension CurlTransport: TestedTransport {}
extension WireTransport: TestedTransport {}

/// Runs each test of a suite over these transports in turn. `SLUICE_TRANSPORT=wire` in the environment
/// leaves out the others, which shows over which of them a test has failed.
struct OverTransports: SuiteTrait, TestTrait, TestScoping {
  let kinds: [TransportKind]

  var isRecursive: Bool { true }

  func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? { testCase == nil ? nil : self }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    let kinds = test.traits.contains { $0 is OverCurl } ? [.curl] : kinds
    let only = getenv("SLUICE_TRANSPORT").flatMap { TransportKind(rawValue: String(cString: $0)) }
    for kind in kinds where only == nil || only == kind {
      try await TransportKind.$current.withValue(kind) { try await function() }
    }
  }
}

extension Trait where Self == OverTransports {
  static var overEachTransport: Self { OverTransports(kinds: TransportKind.allCases) }
  static var overWire: Self { OverTransports(kinds: [.wire]) }
}

/// Runs a test of such a suite over libcurl alone.
struct OverCurl: TestTrait {}

extension Trait where Self == OverCurl {
  /// For a test of what the other transports do not have, or do in another way.
  static var overCurl: Self { OverCurl() }
}
