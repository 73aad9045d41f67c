import Glibc
import SluiceCurl
import SluiceLoop
import SluicePipeline
import SluiceWire
import Testing

/// A transport over which tests run.
enum TransportKind: String, CaseIterable, Sendable {
  case curl, wire

  /// The transport of the current test.
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

/// A transport that counts its transfers, so that a test can check that all have ended.
protocol TestedTransport: Transport, Sendable {
  /// The number of transfers that have not ended.
  var transferCount: Int { get }
}

extension CurlTransport: TestedTransport {}
extension WireTransport: TestedTransport {}

/// Runs each test of a suite once over each transport in `kinds`. `SLUICE_TRANSPORT=wire` in the environment selects
/// one transport, which helps to find the transport over which a test fails.
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

/// Marks a test that runs only over libcurl, although its suite runs over other transports too.
struct OverCurl: TestTrait {}

extension Trait where Self == OverCurl {
  /// For a test of behaviour that only libcurl has.
  static var overCurl: Self { OverCurl() }
}
