import Testing

@testable import SluiceCommand

/// When the supervisor of an engine considers a loop, or the whole process, stuck.
@Suite struct StallWatchTests {
  private static let limit = Duration.seconds(5)

  private static func call(_ loop: Int) -> StallWatch.Call {
    StallWatch.Call(
      loop: loop, plugin: "a", pluginID: "org.a", generation: 2, callback: "on_request", transaction: "t")
  }

  /// In each of the given quarters of a second, sends a pulse and then looks for a stall. Returns the first stall.
  private static func watch(
    _ watch: inout StallWatch, _ quarters: ClosedRange<Int>, turns: (Int) -> [Int64]?, calls: [StallWatch.Call] = []
  ) -> StallWatch.Stall? {
    for quarter in quarters {
      let now = Duration.milliseconds(250 * quarter)
      if let turns = turns(quarter) { watch.note(turns: turns, calls: calls, at: now) }
      if let stall = watch.stall(at: now, limit: limit) { return stall }
    }
    return nil
  }

  @Test func `loops that turn are not a stall, however many calls follow one another`() {
    var watch = StallWatch(at: .zero)
    #expect(Self.watch(&watch, 1...100, turns: { [Int64($0), Int64($0 / 10)] }, calls: [Self.call(1)]) == nil)
  }

  @Test func `a loop that does not turn for the limit is a stall, with its current call`() {
    var watch = StallWatch(at: .zero)
    let stall = Self.watch(&watch, 1...100, turns: { [Int64($0), Int64(min($0, 8))] }, calls: [Self.call(1)])
    #expect(stall == StallWatch.Stall(loop: 1, call: Self.call(1), age: .seconds(5)))
    #expect(stall?.headline == "plugin \"a\" (org.a, generation 2) blocked loop 1 in on_request for 5.00 s")
  }

  @Test func `a loop whose thread has ended is a stall without a call`() {
    var watch = StallWatch(at: .zero)
    let stall = Self.watch(&watch, 1...100, turns: { _ in [1] })
    #expect(stall == StallWatch.Stall(loop: 0, call: nil, age: .seconds(5)))
    #expect(stall?.headline == "loop 0 did not turn for 5.00 s, outside of the calls of plugins")
  }

  @Test func `a process that stops sending pulses is a stall without a loop`() {
    var watch = StallWatch(at: .zero)
    let stall = Self.watch(&watch, 1...100, turns: { $0 < 8 ? [Int64($0)] : nil })
    #expect(stall == StallWatch.Stall(loop: nil, call: nil, age: .seconds(5)))
  }

  @Test func `a watcher does not count the time in which the watcher itself was stopped`() {
    var watch = StallWatch(at: .zero)
    #expect(Self.watch(&watch, 1...8, turns: { [Int64($0)] }) == nil)
    let later = Duration.seconds(3600)
    #expect(watch.stall(at: later, limit: Self.limit) == nil)
    watch.note(turns: [8], calls: [], at: later)
    #expect(watch.stall(at: later, limit: Self.limit) == nil)
  }

  @Test func `a packet with a client's state is decoded unchanged, and other bytes are not a packet`() {
    let packet = ClientPacket(kind: .began, id: 0x0102_0304_0506_0708, isHead: true)
    #expect(ClientPacket(packet.bytes) == packet)
    #expect(ClientPacket([]) == nil && ClientPacket([2] + [UInt8](repeating: 0, count: 9)) == nil)
  }
}
