import SluiceMessages
import Testing

@testable import SluicePipeline

/// The descriptions of a hop's values, which a program can print.
@Suite struct DescriptionTests {
  private static var timings: TransferTimings {
    var timings = TransferTimings()
    timings.connect = .microseconds(200)
    timings.wait = .microseconds(12_100)
    timings.bytesSent = 80
    timings.bytesReceived = 2
    return timings
  }

  private static var connection: ConnectionFacts {
    var facts = ConnectionFacts()
    facts.id = 3
    facts.peer = ConnectionFacts.Address(host: "::1", port: 443)
    facts.version = .http2
    facts.security = ConnectionFacts.Security(version: "TLSv1.3", cipher: "", certificate: [])
    facts.isReused = true
    return facts
  }

  private static func metrics(
    status: Int?, connection: ConnectionFacts?, error: TransactionError? = nil
  ) -> HopMetrics {
    HopMetrics(
      attempt: 0, hop: 0, method: "GET", url: HTTPURL("https://me:pass@example.com/a?key=secret"), status: status,
      timings: timings, connection: connection, error: error)
  }

  @Test func `phases without a duration are left out`() {
    #expect(Self.timings.total == .microseconds(12_300))
    #expect("\(Self.timings)" == "12.3 ms (connect 0.2 ms, wait 12.1 ms), 80 bytes sent, 2 received")
    #expect("\(TransferTimings())" == "0.0 ms, 0 bytes sent, 0 received")
  }

  @Test func `the description of a connection contains only the known facts`() {
    #expect("\(Self.connection)" == "connection 3 to [::1]:443, HTTP/2, TLSv1.3, reused")
    #expect("\(ConnectionFacts())" == "connection")
  }

  @Test func `the description of a hop is one line without secrets`() {
    #expect(
      "\(Self.metrics(status: 200, connection: Self.connection))"
        == "GET https://example.com/a: 200 in \(Self.timings); \(Self.connection)")
    let error = TransactionError(code: .timeout, message: "late")
    #expect(
      "\(Self.metrics(status: nil, connection: nil, error: error))"
        == "GET https://example.com/a: timeout in \(Self.timings)")
  }

  @Test func `the description of a server's trust contains the hash of its key`() {
    let valid = ServerTrust(host: "a.example", port: 443, certificates: [], keyHash: [1, 2, 3], failure: nil)
    #expect("\(valid)" == "a.example:443, key hash AQID, valid")
    let other = ServerTrust(host: "a.example", port: 443, certificates: [], keyHash: [], failure: "expired")
    #expect("\(other)" == "a.example:443, key hash , not valid: expired")
  }
}
