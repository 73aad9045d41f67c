@testable import SluiceCrash
import Testing

@testable import SluicePluginHost

/// Reads the record of a crashed process, which can contain anything.
struct CrashRecordTests {
  private func time(_ text: String) -> Duration? {
    CrashRecord(Array("sluice crash record 1\ntime \(text)\n".utf8))?.time
  }

  @Test func `the time of a crash is read with nanoseconds`() {
    #expect(time("1763762400.123456789") == Duration.seconds(1_763_762_400) + .nanoseconds(123_456_789))
  }

  @Test(arguments: [
    "9223372036854775807.999999999999999999", "1099511627776.0", "-1.0", "1.1000000000", "1.-1", "1",
  ])
  func `an impossible time of a crash is ignored`(_ text: String) {
    #expect(time(text) == Duration.zero)
  }
}
