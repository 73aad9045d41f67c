import CacheRules
import SluiceMessages
import Testing

/// The freshness of responses (RFC 9111 §4.2), with a clock that the test sets.
@Suite struct FreshnessTests {
  @Test func `the age of a response is its initial age plus its time in the cache`() {
    let head = stored(["age": "30", "date": noon.text], requested: noon, received: noon + 2)
    // corrected_age_value is 32 s: the 30 s of the header and the 2 s of the exchange. This is more than the apparent
    // age of 2 s.
    #expect(head.freshness.initialAge == 32_000)
    #expect(head.freshness.age(at: noon + 2) == 32_000)
    #expect(head.freshness.age(at: noon + 10.5) == 40_500)
  }

  @Test func `a past date makes a response older, a future date does not make it younger`() {
    #expect(stored(["date": (noon + -50).text]).freshness.initialAge == 50_000)
    #expect(stored(["date": (noon + 50).text, "age": "3"]).freshness.initialAge == 3000)
  }

  @Test func `if the clock is set back, no response becomes younger than it was when it arrived`() {
    #expect(stored(["age": "7"]).freshness.age(at: noon + -1000) == 7000)
  }

  @Test func `a response is fresh until just before its age reaches its lifetime`() {
    let head = stored(["cache-control": "max-age=10", "date": noon.text])
    #expect(head.freshness.isFresh(at: noon + 9.999))
    #expect(!head.freshness.isFresh(at: noon + 10))
    #expect(head.freshness.remaining(at: noon + 12) == -2000)
  }

  @Test(
    arguments: [
      (["cache-control": "max-age=60"], 60_000, false),
      (["cache-control": "max-age=\"60\""], 60_000, false),
      (["cache-control": "max-age=60, max-age=90"], 60_000, false),
      (["cache-control": "max-age=60", "expires": (noon + 5).text], 60_000, false),
      (["cache-control": "s-maxage=90"], 0, true),
      (["cache-control": "max-age=x", "expires": (noon + 5).text], 0, false),
      (["date": (noon + -10).text, "expires": (noon + 5).text], 15_000, false),
      (["expires": (noon + 5).text], 5000, false),
      (["expires": (noon + -5).text], 0, false),
      (["expires": "-1"], 0, false),
      (["date": noon.text, "last-modified": (noon + -1000).text], 100_000, true),
      (["date": noon.text, "last-modified": (noon + -100_000_000).text], 86_400_000, true),
      (["date": noon.text, "last-modified": (noon + 1000).text], 0, true),
      (["last-modified": "yesterday"], 0, true),
      ([:], 0, true),
    ] as [(HeaderFields, Int64, Bool)])
  func `the lifetime is max-age, otherwise Expires, otherwise a tenth of the time since the last change, up to a limit`(
    headers: HeaderFields, lifetime: Int64, isHeuristic: Bool
  ) {
    let freshness = stored(headers).freshness
    #expect(freshness.lifetime == lifetime)
    #expect(freshness.isHeuristic == isHeuristic)
  }

  @Test func `the largest numbers in a header do not overflow`() {
    let most = String(repeating: "9", count: 400)
    let head = stored(["cache-control": "max-age=\(most)", "age": most])
    #expect(head.freshness.lifetime > 0)
    #expect(!head.freshness.isFresh(at: noon + 1_000_000_000))
  }
}
