import SluicePluginHost
import Testing

@testable import Sluice

/// What the stall detector reports, given what each check of the watchdog finds.
@Suite struct StallDetectorTests {
  private static func call(_ number: UInt64, on loop: Int = 0) -> LoopCall {
    LoopCall(
      loop: loop, number: number, stage: "a", plugin: "com.example.a", generation: 1, callback: "on_request",
      transaction: nil)
  }

  private static let limit = Duration.milliseconds(100)

  @Test func `a call that lasts as long as the limit is reported once, and its end is reported too`() {
    var detector = StallDetector()
    let call = Self.call(7)
    #expect(detector.findings([call], at: .milliseconds(0), limit: Self.limit).isEmpty)
    #expect(detector.findings([call], at: .milliseconds(99), limit: Self.limit).isEmpty)
    #expect(detector.stalls.isEmpty)
    let stall = StallDetector.Stall(call: call, age: .milliseconds(100))
    #expect(detector.findings([call], at: .milliseconds(100), limit: Self.limit) == [.began(stall)])
    #expect(detector.findings([call], at: .milliseconds(130), limit: Self.limit).isEmpty)
    #expect(detector.stalls == [.init(call: call, age: .milliseconds(130))])
    let end = StallDetector.Stall(call: call, age: .milliseconds(150))
    #expect(detector.findings([], at: .milliseconds(150), limit: Self.limit) == [.ended(end)])
    #expect(detector.stalls.isEmpty)
  }

  @Test func `short calls are not a stall, however busy the loop is`() {
    var detector = StallDetector()
    for number in UInt64(1)...20 {
      #expect(detector.findings([Self.call(number)], at: .milliseconds(90 * Int(number)), limit: Self.limit).isEmpty)
    }
    #expect(detector.stalls.isEmpty)
  }

  @Test func `a stall ends when the next check finds the loop in another call`() {
    var detector = StallDetector()
    _ = detector.findings([Self.call(1)], at: .zero, limit: Self.limit)
    _ = detector.findings([Self.call(1)], at: .milliseconds(100), limit: Self.limit)
    let findings = detector.findings([Self.call(2)], at: .milliseconds(120), limit: Self.limit)
    #expect(findings == [.ended(.init(call: Self.call(1), age: .milliseconds(120)))])
    #expect(detector.findings([Self.call(2)], at: .milliseconds(219), limit: Self.limit).isEmpty)
  }

  @Test func `each loop is watched separately, and the innermost call is reported`() {
    var detector = StallDetector()
    _ = detector.findings([Self.call(1), Self.call(2, on: 1)], at: .zero, limit: Self.limit)
    var inner = Self.call(1)
    inner.callback = "on_schedule"
    let findings = detector.findings([inner, Self.call(3, on: 1)], at: .milliseconds(100), limit: Self.limit)
    #expect(findings == [.began(.init(call: inner, age: .milliseconds(100)))])
  }

  @Test func `without a limit nothing is reported, and a new limit counts from the first check of a call`() {
    var detector = StallDetector()
    #expect(detector.findings([Self.call(1)], at: .zero, limit: .zero).isEmpty)
    #expect(detector.findings([Self.call(1)], at: .seconds(3600), limit: .zero).isEmpty)
    #expect(detector.findings([Self.call(1)], at: .seconds(3601), limit: Self.limit).count == 1)
  }
}
