import CacheRules
import SluiceMessages
import Testing

/// Tests when a stored response is used, when the origin is asked, and which response replaces an error.
@Suite struct ReuseTests {
  private let hour = stored(["cache-control": "max-age=3600", "date": noon.text])

  @Test(
    arguments: [
      ([:], 10, .fresh),
      ([:], 3600, .validate(.stale)),
      (["cache-control": "no-cache"], 10, .validate(.request)),
      (["pragma": "no-cache"], 10, .validate(.request)),
      (["pragma": "no-cache", "cache-control": "max-age=20"], 10, .fresh),
      (["cache-control": "max-age=0"], 0, .validate(.request)),
      (["cache-control": "max-age=10"], 10, .fresh),
      (["cache-control": "max-age=10"], 10.001, .validate(.request)),
      (["cache-control": "max-age=soon"], 1, .validate(.request)),
      (["cache-control": "min-fresh=60"], 3540, .fresh),
      (["cache-control": "min-fresh=60"], 3541, .validate(.request)),
      (["cache-control": "max-stale"], 999_999, .stale),
      (["cache-control": "max-stale=60"], 3660, .stale),
      (["cache-control": "max-stale=60"], 3661, .validate(.stale)),
      (["cache-control": "max-stale=x"], 3601, .validate(.stale)),
      (["cache-control": "max-stale, max-age=0"], 3601, .validate(.stale)),
    ] as [(HeaderFields, Double, Reuse)])
  func `a request can ask for a fresher or a stale response`(request: HeaderFields, after: Double, reuse: Reuse) {
    #expect(hour.reuse(request, after: after) == reuse)
  }

  @Test func `a response decides whether it can be used stale or without validation`() {
    let strict = stored(["cache-control": "max-age=10, must-revalidate"])
    #expect(strict.reuse(["cache-control": "max-stale"], after: 11) == .validate(.stale))
    #expect(stored(["cache-control": "max-age=10, no-cache"]).reuse(after: 1) == .validate(.response))
    #expect(stored(["cache-control": "max-age=10, no-cache=\"a\""]).reuse(after: 1) == .fresh)
  }

  @Test func `max-age=0 in a request does not revalidate an immutable response that is fresh`() {
    let head = stored(["cache-control": "max-age=10, immutable"])
    #expect(head.reuse(["cache-control": "max-age=0"], after: 5) == .fresh)
    #expect(head.reuse(["cache-control": "no-cache"], after: 5) == .validate(.request))
    #expect(head.reuse(["cache-control": "max-age=0"], after: 10) == .validate(.stale))
  }

  @Test(
    arguments: [
      ("max-age=10, stale-if-error=60", [:], 70, true),
      ("max-age=10, stale-if-error=60", [:], 71, false),
      ("max-age=10", [:], 11, false),
      ("max-age=10", ["cache-control": "stale-if-error=5"], 15, true),
      ("max-age=10, stale-if-error=60", ["cache-control": "stale-if-error=5"], 16, false),
      ("max-age=10, stale-if-error=60, must-revalidate", [:], 11, false),
      ("max-age=10, stale-if-error=60, no-cache", [:], 11, false),
      ("max-age=10, stale-if-error=60", ["cache-control": "no-cache"], 11, false),
    ] as [(String, HeaderFields, Double, Bool)])
  func `the time of stale-if-error begins at the end of the lifetime, and the request's value has priority`(
    control: String, request: HeaderFields, after: Double, mayStandIn: Bool
  ) {
    let head = stored(["cache-control": control])
    #expect(
      head.mayStandInForError(head.freshness, isShared: false, for: asking(request), at: noon + after, defaultLimit: 0)
        == mayStandIn)
  }

  @Test func `without stale-if-error, the configured time counts`() {
    let head = stored(["cache-control": "max-age=10"])
    #expect(
      head.mayStandInForError(head.freshness, isShared: false, for: asking(), at: noon + 40, defaultLimit: 30_000))
    #expect(
      !head.mayStandInForError(head.freshness, isShared: false, for: asking(), at: noon + 41, defaultLimit: 30_000))
  }
}
