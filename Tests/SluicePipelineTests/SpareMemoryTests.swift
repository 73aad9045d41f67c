import SluiceMessages
import SluiceTestKit
import Testing

@testable import SluicePipeline

/// Memory that ended transactions leave to later ones.
@Suite struct SpareMemoryTests {
  private func record(_ number: UInt64) throws -> ResultRecord {
    let id = TransactionID(high: number, low: number)
    var request = Request(
      url: try HTTPURL("http://u:p@a/\(number)"), headers: ["x-key": "1"], body: .bytes([1, 2, 3]))
    request.trailers = ["x-sum": "1"]
    let record = ResultRecord(id: id, request)
    record.givenID = .text("id")
    record.response = Response(status: 200, headers: ["a": "1"], body: .bytes([1]))
    record.error = TransactionError(code: .timeout, message: "late")
    record.attempts = 3
    record.snapshot = 7
    record.timings = TransferTimings()
    record.issuedHeaders = ["x-key": "1"]
    record.changedRequest = request
    record.attributes.set(Attribute("a", "b"))
    record.explanation = []
    record.notes = ResultNotes([], nil)
    return record
  }

  @Test func `a record is used again, and contains nothing of the earlier transaction`() throws {
    var memory = SpareMemory()
    let before = memory.takeRecord()
    #expect(before == nil)
    var identity: ObjectIdentifier?
    do {
      let record = try record(1)
      identity = ObjectIdentifier(record)
      record.removeContent()
      memory.keep(record)
    }
    let taken = memory.takeRecord()
    let record = try #require(taken)
    #expect(ObjectIdentifier(record) == identity)
    let left = record.originalRequest
    #expect(left.headers.isEmpty && left.body.isEmpty && !left.hasTrailers && left.url.string == "http://localhost/")
    record.begin(id: TransactionID(high: 2, low: 2), Request(url: "http://b/"))
    let fresh = ResultRecord(id: TransactionID(high: 2, low: 2), Request(url: "http://b/"))
    // Shows every stored property.
    var (shown, expected) = ("", "")
    dump(record, to: &shown, maxDepth: 6)
    dump(fresh, to: &expected, maxDepth: 6)
    #expect(shown == expected)
  }

  @Test func `a record that somebody still refers to is not used again`() throws {
    var memory = SpareMemory()
    let record = try record(1)
    memory.keep(record)
    let taken = memory.takeRecord()
    #expect(taken == nil && record.id == TransactionID(high: 1, low: 1))
  }

  @Test func `the memory can be released`() throws {
    var memory = SpareMemory()
    weak var record: ResultRecord?
    do {
      let kept = try self.record(1)
      record = kept
      memory.keep(kept)
    }
    #expect(record != nil)
    memory.removeAll()
    #expect(record == nil)
  }

  @Test func `the memory of long lists is released`() {
    var memory = SpareMemory()
    memory.keep(["a": String(repeating: "b", count: 10_000)])
    let copy = memory.copy(of: ["c": "d"])
    #expect(copy == ["c": "d"] && copy.buffer.capacity < 10_000)
  }
}
