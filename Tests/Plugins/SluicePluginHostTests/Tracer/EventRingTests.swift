import Glibc
import Testing

@testable import SluicePluginHost

@Suite struct EventRingTests {
  private func write(_ ring: EventRing, _ value: Int, byteCount: Int) -> Bool {
    ring.write(byteCount: byteCount) { memory in
      for offset in 0..<byteCount {
        memory.storeBytes(of: UInt8(truncatingIfNeeded: value), toByteOffset: offset, as: UInt8.self)
      }
    }
  }

  private func read(_ ring: EventRing) -> UInt8? {
    var value: UInt8?
    _ = ring.read { value = $0.load(as: UInt8.self) }
    return value
  }

  @Test func `records are read in the order in which they were written, even around the ring's end`() {
    let ring = EventRing(capacityBytes: 256)
    for round in 0..<100 {
      let sizes = [1, 40, 17].map { $0 + round % 9 }
      for (index, size) in sizes.enumerated() { #expect(write(ring, round + index, byteCount: size)) }
      for index in sizes.indices { #expect(read(ring) == UInt8(truncatingIfNeeded: round + index)) }
      #expect(read(ring) == nil)
      #expect(ring.isEmpty)
    }
  }

  @Test func `a record without room is refused, and fits after another record was read`() {
    let ring = EventRing(capacityBytes: 256)
    var count = 0
    while write(ring, count, byteCount: 16) { count += 1 }
    #expect(count == 8)
    #expect(!ring.isHalfFree)
    #expect(read(ring) == 0)
    #expect(write(ring, 8, byteCount: 16))
    #expect(!write(ring, 9, byteCount: 16))
    for value in 1...8 { #expect(read(ring) == UInt8(value)) }
    #expect(ring.isHalfFree)
  }

  @Test func `no record is lost or mixed if one thread writes and another one reads`() {
    let ring = EventRing(capacityBytes: 1024)
    let count = 20_000
    let writer = Background {
      for value in 0..<count {
        while !write(ring, value, byteCount: 1 + value % 90) { sched_yield() }
      }
    }
    var wrong = 0
    for value in 0..<count {
      while !ring.read({ memory in
        let last = memory.load(fromByteOffset: value % 90, as: UInt8.self)
        if memory.load(as: UInt8.self) != UInt8(truncatingIfNeeded: value) || last != UInt8(truncatingIfNeeded: value) {
          wrong += 1
        }
      }) { sched_yield() }
    }
    writer.join()
    #expect(wrong == 0)
    #expect(ring.isEmpty)
  }
}
