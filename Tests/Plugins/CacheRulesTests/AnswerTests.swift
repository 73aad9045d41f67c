import CacheRules
import SluiceMessages
import Testing

/// Tests how requests with conditions or ranges are answered from a stored response.
@Suite struct AnswerTests {
  private let head = stored(["etag": "\"a\"", "last-modified": (noon + -100).text, "date": noon.text])

  @Test(
    arguments: [
      (["if-none-match": "\"a\""], true),
      (["if-none-match": "W/\"a\""], true),
      (["if-none-match": "\"x,y\", \"a\""], true),
      (["if-none-match": "\"b\", a"], false),
      (["if-none-match": "*"], true),
      (["if-none-match": "\"b\"", "if-modified-since": noon.text], false),
      (["if-modified-since": (noon + -100).text], true),
      (["if-modified-since": (noon + -101).text], false),
      (["if-modified-since": "yesterday"], false),
    ] as [(HeaderFields, Bool)])
  func `a condition holds if its tag or, without a tag, its date matches`(request: HeaderFields, isUnmodified: Bool) {
    #expect(head.isUnmodified(for: asking(request)) == isUnmodified)
  }

  @Test func `without Last-Modified, a condition is compared with the Date of the response`() {
    let head = stored(["date": noon.text])
    #expect(head.isUnmodified(for: asking(["if-modified-since": noon.text])))
    #expect(!head.isUnmodified(for: asking(["if-modified-since": (noon + -1).text])))
  }

  @Test func `the conditions of a request to the origin have the validators of the stored response`() {
    #expect(head.conditions.map(\.name) == ["if-none-match", "if-modified-since"])
    #expect(head.conditions.map(\.value) == ["\"a\"", (noon + -100).text])
    #expect(stored([:]).conditions.isEmpty)
  }

  @Test(
    arguments: [
      (["range": "bytes=0-1"], .part(0..<2)),
      (["range": "bytes=8-99"], .part(8..<10)),
      (["range": "BYTES=3-"], .part(3..<10)),
      (["range": "bytes=-4"], .part(6..<10)),
      (["range": "bytes=-99"], .part(0..<10)),
      (["range": "bytes=10-"], .unknown),
      (["range": "bytes=-0"], .unknown),
      (["range": "bytes=2-1"], .unknown),
      (["range": "bytes=0-1,3-4"], .unknown),
      (["range": "bytes=99999999999999999999-"], .unknown),
      (["range": "lines=1-2"], .unknown),
      (["range": "bytes=0-1", "if-range": "\"a\""], .part(0..<2)),
      (["range": "bytes=0-1", "if-range": "W/\"a\""], .whole),
      (["range": "bytes=0-1", "if-range": "\"b\""], .whole),
      (["range": "bytes=0-1", "if-range": (noon + -100).text], .part(0..<2)),
      (["range": "bytes=0-1", "if-range": (noon + -99).text], .whole),
      ([:], .whole),
    ] as [(HeaderFields, ByteRange)])
  func `one range of bytes is answered, other ranges go to the origin`(request: HeaderFields, range: ByteRange) {
    #expect(ByteRange(asking(request), of: head, byteCount: 10) == range)
  }

  @Test func `a range is not answered from a body that was stored decoded`() {
    let head = stored(["content-encoding": "gzip"])
    #expect(ByteRange(asking(["range": "bytes=0-1"]), of: head, byteCount: 10) == .unknown)
  }

  @Test func `the directives are read as a list of names with arguments`() {
    let control = CacheControl(["a, B=c , d=\"e, f=\\\"g\\\"\",, =h", "max-age = 5 , b=z"])
    #expect(control.contains("a") && control.contains("b") && !control.contains("f"))
    #expect(control.argument("b") == "c")
    #expect(control.argument("d") == "e, f=\"g\"")
    #expect(control.seconds("max-age") == .value(5))
    #expect(control.seconds("a") == .invalid)
    #expect(control.seconds("none") == .absent)
    #expect(CacheControl(["no-cache=\"A, b\""]).fieldNames("no-cache") == ["a", "b"])
  }

  @Test func `Cache-Status describes the action`() {
    var status = CacheStatus()
    status.forwarded = .stale
    status.forwardedStatus = 304
    status.isStored = true
    #expect(status.text == "sluice; fwd=stale; fwd-status=304; stored")
    status = CacheStatus()
    status.isHit = true
    status.timeToLive = -3
    #expect(status.text == "sluice; hit; ttl=-3")
  }
}
