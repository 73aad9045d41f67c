import SluiceMessages
import SluicePipeline
import Testing

struct RecentCallOutsTests {
  private static func call(_ number: Int, bodyBytes: Int = 0) throws -> RecordedCallOut {
    let response = Response(status: 200, body: .bytes([UInt8](repeating: 1, count: bodyBytes)))
    return RecordedCallOut(method: "GET", url: try HTTPURL("http://a/\(number)"), response: response)
  }

  @Test func `the last 64 call-outs are kept, up to a mebibyte, and are taken once`() throws {
    var recent = RecentCallOuts()
    for number in 0..<70 { recent.append(try Self.call(number)) }
    #expect(recent.takeAll().map(\.url.path) == (6..<70).map { "/\($0)" })
    #expect(recent.takeAll().isEmpty)
    for number in 0..<3 { recent.append(try Self.call(number, bodyBytes: 500_000)) }
    #expect(recent.takeAll().map(\.url.path) == ["/1", "/2"])
    recent.append(try Self.call(0, bodyBytes: 2 << 20))
    #expect(recent.takeAll().isEmpty)
  }
}
