import SluiceCookies
import Testing

/// Dates of `Expires`, by draft-ietf-httpbis-rfc6265bis-22 §5.1.1.
@Suite struct CookieDateTests {
  private static func seconds(_ text: String) -> Int64? { CookieDate.seconds(Array(text.utf8)) }

  @Test(arguments: [
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    "6 nov 94 8:49:37", "1994 6 November 08:49:37", "08:49:37junk 6th NOVember 1994x", "Nov 6 1994 08:49:37 +0200",
    "Nov/6/1994;08:49:37",
  ])
  func `step 2: the parts are found in any order, and any text may follow them`(text: String) {
    #expect(Self.seconds(text) == 784_111_777)
  }

  @Test func `steps 3 and 4: a year of two digits is from 1970 to 2069`() {
    #expect(Self.seconds("1 Jan 70 00:00:00") == 0)
    #expect(Self.seconds("1 Jan 99 00:00:00") == 915_148_800)
    #expect(Self.seconds("1 Jan 00 00:00:00") == 946_684_800)
    #expect(Self.seconds("1 Jan 69 00:00:00") == 3_124_224_000)
  }

  @Test(arguments: [
    "", "Sun, 06 Nov 1994", "06 Nov 08:49:37", "Nov 1994 08:49:37", "06 1994 08:49:37", "0 Nov 1994 08:49:37",
    "32 Nov 1994 08:49:37", "06 Nov 1600 08:49:37", "06 Nov 1994 24:49:37", "06 Nov 1994 08:60:37",
    "06 Nov 1994 08:49:60", "06 Nov 1994 08:49", "06 Nov 1994 08:4x:37", "06 Nov 1994 :49:37", "06 Nov 1994 008:49:37",
    "06 Nox 1994 08:49:37", "06 Nov 19945 08:49:37",
  ])
  func `step 5: a date with a part that is missing or out of range is invalid`(text: String) {
    #expect(Self.seconds(text) == nil)
  }

  @Test func `step 6: a day that the month does not have is invalid`() {
    #expect(Self.seconds("31 Apr 2026 00:00:00") == nil)
    #expect(Self.seconds("29 Feb 2026 00:00:00") == nil && Self.seconds("29 Feb 1900 00:00:00") == nil)
    #expect(Self.seconds("29 Feb 2024 00:00:00") == 1_709_164_800)
    #expect(Self.seconds("29 Feb 2000 00:00:00") == 951_782_400)
  }

  @Test func `dates in the first and in the last valid year are read`() {
    #expect(Self.seconds("1 Jan 1601 00:00:00") == -11_644_473_600)
    #expect(Self.seconds("31 Dec 9999 23:59:59") == 253_402_300_799)
  }
}
