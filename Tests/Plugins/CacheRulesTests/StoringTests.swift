import CacheRules
import SluiceMessages
import Testing

@Suite struct StoringTests {
  @Test(
    arguments: [
      (200, ["cache-control": "max-age=1"], true),
      (200, ["etag": "\"a\""], true),
      (200, ["etag": "a"], false),
      (200, ["last-modified": (noon + -1000).text], true),
      (200, [:], false),
      (200, ["cache-control": "max-age=0"], false),
      (200, ["cache-control": "max-age=0, stale-if-error=9"], true),
      (200, ["cache-control": "max-age=0, stale-if-error=9, must-revalidate"], false),
      (200, ["cache-control": "max-age=9, private"], true),
      (200, ["cache-control": "max-age=9, no-store"], false),
      (200, ["cache-control": "max-age=9, no-store, must-understand"], true),
      (599, ["cache-control": "max-age=9, must-understand"], false),
      (200, ["cache-control": "max-age=9", "vary": "a, *"], false),
      (206, ["cache-control": "max-age=9"], false),
      (304, ["cache-control": "max-age=9"], false),
      (403, ["etag": "\"a\""], false),
      (403, ["etag": "\"a\"", "cache-control": "public"], true),
      (403, ["expires": (noon + 9).text], true),
    ] as [(Int, HeaderFields, Bool)])
  func `a response is stored if that is allowed and useful`(
    status: Int, headers: HeaderFields, isStored: Bool
  ) {
    let head = stored(headers, status: status)
    let isAllowed = head.mayBeStored(
      isShared: false, hasCredentials: false, heuristicLimit: day, standsInForErrors: false)
    #expect(isAllowed == isStored)
  }

  @Test func `fields about the connection are not stored, and a date is added`() {
    let head = stored([
      "Connection": "close, X-Hop", "x-hop": "1", "TE": "a", "Keep-Alive": "b", "proxy-authenticate": "c",
      "x-kept": "d",
    ]).forStoring()
    #expect(head.headers == ["x-kept": "d", "date": noon.text])
  }

  @Test func `a 304 replaces the fields that it has, keeps the others, and resets the age`() {
    let old = stored(
      ["date": (noon + -90).text, "age": "50", "x-both": "1", "X-Both": "2", "x-old": "3", "content-length": "5"])
    let answer = stored(
      ["date": noon.text, "x-both": "9", "x-new": "8", "content-length": "0", "content-encoding": "gzip", "te": "x"],
      status: 304, requested: noon + 1, received: noon + 2)
    let head = old.updated(by: answer)
    #expect(head.status == 200)
    #expect(head.headers == ["x-old": "3", "content-length": "5", "date": noon.text, "x-both": "9", "x-new": "8"])
    #expect((head.requested, head.received) == (noon + 1, noon + 2))
  }

  @Test func `header values that are not UTF-8 survive the update by a 304`() {
    var answer = stored([:], status: 304)
    answer.headers.append("x-name".utf8.span, [0x66, 0xFC, 0x72].span)
    let head = stored(["x-name": "before"]).updated(by: answer)
    #expect(head.headers.buffer.span.isEmpty == false)
    let index = head.headers.firstIndex(named: "x-name".utf8.span)
    #expect(index.map { Array(head.headers.buffer[head.headers.valueRange(at: $0)]) } == [0x66, 0xFC, 0x72])
  }

  @Test(
    arguments: [
      (["etag": "\"a\""], ["etag": "\"a\""], true),
      (["etag": "W/\"a\""], ["etag": "\"a\""], true),
      (["etag": "\"a\""], ["etag": "\"b\""], false),
      ([:], ["etag": "\"b\""], false),
      (["last-modified": (noon + -9).text], ["last-modified": (noon + -9).text], true),
      (["last-modified": (noon + -9).text], ["last-modified": (noon + -8).text], false),
      (["etag": "\"a\""], [:], true),
    ] as [(HeaderFields, HeaderFields, Bool)])
  func `a 304 confirms a stored response that has the same tag or date`(
    old: HeaderFields, answer: HeaderFields, isConfirmed: Bool
  ) {
    #expect(stored(old).isConfirmed(by: stored(answer, status: 304)) == isConfirmed)
  }

  @Test func `fields named by Vary are compared as lists, however they are split into lines`() {
    let names = stored(["vary": "Accept, ,X-A", "Vary": "accept"]).varying
    #expect(names == ["accept", "x-a"])
    let one: HeaderFields = ["accept": "a,b"]
    let two: HeaderFields = ["X-Other": "1", "Accept": "a", "accept": "  b "]
    #expect(one.selection(names) == two.selection(names))
    #expect(one.selection(names) != ["accept": "a"].selection(names))
    #expect(([:] as HeaderFields).selection(names) == nil)
    #expect((["x-a": ""] as HeaderFields).selection(names) != nil)
  }
}

extension [String: String] {
  fileprivate func selection(_ names: [String]) -> String? {
    var fields = HeaderFields()
    for (name, value) in self { fields.append(name, value) }
    return fields.selection(names)
  }
}
