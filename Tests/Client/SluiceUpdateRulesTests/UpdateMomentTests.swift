import SluiceUpdateRules
import Testing

@Suite struct UpdateMomentTests {
  @Test(arguments: [
    ("1970-01-01T00:00:00Z", 0), ("2026-11-26T12:00:00Z", 1_795_694_400), ("2024-02-29T23:59:59Z", 1_709_251_199),
  ])
  func `a time is read and written`(text: String, seconds: Int64) {
    #expect(UpdateMoment(text)?.seconds == seconds)
    #expect(UpdateMoment(seconds: seconds).description == text)
  }

  @Test(arguments: [
    "", "2026-11-26", "2026-11-26T12:00:00", "2026-11-26T12:00:00+00:00", "2026-11-26t12:00:00z",
    "2026-11-26 12:00:00Z", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-11-26T24:00:00Z",
    "2026-11-26T12:00:60Z", "1969-12-31T23:59:59Z", "2026-11-26T12:00:00.0Z", "-026-11-26T12:00:00Z",
  ])
  func `a time in another form, or with a day that does not exist, is refused`(text: String) {
    #expect(UpdateMoment(text) == nil)
  }
}
