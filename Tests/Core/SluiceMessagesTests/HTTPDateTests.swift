import SluiceMessages
import Testing

/// Dates in HTTP fields (RFC 9110 §5.6.7).
struct HTTPDateTests {
  /// 2026-11-21T00:00:00Z.
  private static let now = HTTPDate(secondsSince1970: 1_795_219_200)

  private static func seconds(_ text: String) -> Int64? { HTTPDate(text, now: now)?.secondsSince1970 }

  @Test(arguments: [
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
  ])
  func `the three forms of the RFC's example are the same time`(text: String) {
    #expect(Self.seconds(text) == 784_111_777)
  }

  @Test(
    arguments: [
      ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
      ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600), ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
      ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400), ("Sat Nov 21 00:00:00 2026", 1_795_219_200),
      ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799), ("Sat, 01 Jan 0000 00:00:00 GMT", -62_167_219_200),
    ] as [(String, Int64)])
  func `a date counts seconds from 1970`(text: String, seconds: Int64) {
    #expect(Self.seconds(text) == seconds)
  }

  @Test func `a year of two digits is at most fifty years in the future`() {
    #expect(Self.seconds("Saturday, 21-Nov-76 00:00:00 GMT") == 3_373_142_400)
    #expect(Self.seconds("Monday, 21-Nov-77 00:00:00 GMT") == 248_918_400)
  }

  @Test(arguments: [
    "", "Sun", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 GMT ",
    "Sun, 6 Nov 1994 08:49:37 GMT", "sun, 06 nov 1994 08:49:37 GMT", "Sun, 31 Apr 1994 08:49:37 GMT",
    "Sun, 29 Feb 2100 00:00:00 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
    "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov 94 08:49:37 GMT",
    "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun Nov 6 08:49:37 1994", "Sun Nov  6 08:49:37 1994 GMT",
    "Sun, 06 Nov +994 08:49:37 GMT", "120", "Sun, ٠٦ Nov 1994 08:49:37 GMT",
  ])
  func `any other text is not a date`(text: String) {
    #expect(Self.seconds(text) == nil)
  }

  @Test func `every day from 1900 to 2100 can be written and read back`() {
    var wrong = 0
    for day in Int64(-25_567)...47_846 {
      let date = HTTPDate(secondsSince1970: day * 86_400 + (day & 0xFFFF))
      if HTTPDate(date.description, now: Self.now) != date { wrong += 1 }
    }
    #expect(wrong == 0)
    #expect(HTTPDate(secondsSince1970: 784_111_777).description == "Sun, 06 Nov 1994 08:49:37 GMT")
  }
}
