import SluiceMessages
import SluiceTestKit
import Synchronization
import Testing

struct BodyTests {
  @Test func `a body in memory returns its bytes and can be sent again`() {
    #expect(Body.empty.byteCount == 0 && Body.empty.isEmpty && Body.empty.bytes == [] && Body.empty.isReplayable)
    let text = Body.text("é")
    #expect(text.bytes == [0xC3, 0xA9] && text.byteCount == 2 && !text.isEmpty && text.isReplayable)
    #expect(Body.bytes([]).isEmpty)
  }

  @Test func `a file body returns no bytes and can be sent again`() {
    let body = Body.file(FileBody(path: "/nowhere", byteCount: 7))
    #expect(body.byteCount == 7 && body.bytes == nil && body.isReplayable && !body.isEmpty)
  }

  @Test func `a stream cannot be sent again, and a stream without a size does not count as empty`() {
    let unsized = Body.stream(BodyStream { _ in nil })
    #expect(unsized.byteCount == nil && unsized.bytes == nil && !unsized.isEmpty && !unsized.isReplayable)
    #expect(Body.stream(BodyStream(byteCount: 3) { _ in nil }).byteCount == 3)
  }

  /// If each wake added a wrapper around the reader, each call would be deeper in the stack. The test is disabled under
  /// a sanitizer, because a sanitizer moves local variables away from the stack.
  @Test(.enabled(if: !Sanitizer.isOn)) func `after many wakes, a stream still calls its reader directly`() {
    let stream = BodyStream { _ in nil }
    let place = Places()
    stream.onWake { place.note() }
    func wake() -> UInt {
      stream.wake()
      return place.latest.load(ordering: .relaxed)
    }
    let first = wake()
    var last = first
    for _ in 0..<1000 { last = wake() }
    #expect(first != 0 && last == first)
  }

  @Test func `a file is released once, when the last message that refers to it is released`() {
    let releases = Releases()
    var first: Body? = Body.file(FileBody(path: "/nowhere", byteCount: 1) { releases.count.add(1, ordering: .relaxed) })
    var second = first
    #expect(second != nil)
    first = nil
    #expect(first == nil && releases.count.load(ordering: .relaxed) == 0)
    second = nil
    #expect(second == nil && releases.count.load(ordering: .relaxed) == 1)
  }

  @Test(arguments: ["GET", "M-SEARCH", "get", "!"])
  func `a method can be any token`(_ method: String) throws {
    try Request(method: method, url: HTTPURL("http://h")).validate()
  }

  @Test(arguments: ["", "GET ", "G T", "GET\r\nX: y", "GÉT", "GET/"])
  func `a method must be a token`(_ method: String) throws {
    let request = Request(method: method, url: HTTPURL("http://h"))
    let error = #expect(throws: MessageError.self) { try request.validate() }
    #expect(error?.code == .invalidMethod)
  }

  @Test func `a request with a header that could split the message is refused`() throws {
    let request = Request(url: HTTPURL("http://h"), headers: ["x": "a\r\nhost: evil"])
    let error = #expect(throws: MessageError.self) { try request.validate() }
    #expect(error?.code == .invalidHeader)
  }
}

private final class Releases: Sendable {
  let count = Atomic<Int>(0)
}

/// Records the address on the stack at which a function was called.
private final class Places: Sendable {
  let latest = Atomic<UInt>(0)

  @inline(never) func note() {
    var local = 0
    withUnsafePointer(to: &local) { latest.store(UInt(bitPattern: $0), ordering: .relaxed) }
  }
}
