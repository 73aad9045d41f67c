import Glibc
import SluicePipeline
import Testing

@testable import SluiceLoop

/// The order in which names are looked up, tested with literals instead of threads and clocks.
@Suite struct NameLookUpsTests {
  typealias LookUps = NameLookUps<Int>

  private static let unknown = NameError("Name or service not known")

  private func lookUps(threads: Int = 3, slowThreads: Int = 2, waiting: Int = 100) -> LookUps {
    LookUps(LookUps.Limits(threads: threads, slowThreads: slowThreads, waitingNames: waiting, rememberedNames: 100))
  }

  private func at(_ milliseconds: UInt64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

  /// Looks the names up one after the other. Each look-up takes so long that its name counts as slow. Returns the time
  /// after the last look-up.
  private func makeSlow(_ names: [String], _ lookUps: inout LookUps) -> UInt64 {
    var time: UInt64 = 0
    for name in names {
      _ = lookUps.ask(name, 0, at: at(time))
      #expect(lookUps.next(at: at(time)) == name)
      time += 1000
      _ = lookUps.answered(name, .success(["192.0.2.1"]), at: at(time))
      #expect(lookUps.next(at: at(time)) == nil)
    }
    return time
  }

  @Test func `a name is looked up once, and all callers get the result`() {
    var lookUps = lookUps()
    #expect(lookUps.ask("a.test", 1, at: at(0)) == .needsThread)
    #expect(lookUps.ask("a.test", 2, at: at(0)) == .joined)
    #expect(lookUps.next(at: at(0)) == "a.test")
    #expect(lookUps.ask("a.test", 3, at: at(1)) == .joined)
    #expect(lookUps.answered("a.test", .success(["192.0.2.1"]), at: at(2)) == [1, 2, 3])
    #expect(lookUps.next(at: at(2)) == nil)
    #expect(lookUps.ask("a.test", 4, at: at(3)) == .needsThread)
  }

  @Test func `each name gets its own thread up to the limit, and further names wait in their order`() {
    var lookUps = lookUps(threads: 2)
    let asked = ["a", "b", "c", "d"].map { lookUps.ask($0, 0, at: at(0)) }
    #expect(asked == [.needsThread, .needsThread, .joined, .joined])
    #expect(lookUps.next(at: at(0)) == "a")
    #expect(lookUps.next(at: at(0)) == "b")
    _ = lookUps.answered("b", .success([]), at: at(1))
    #expect(lookUps.next(at: at(1)) == "c")
    _ = lookUps.answered("c", .success([]), at: at(2))
    #expect(lookUps.next(at: at(2)) == "d")
  }

  @Test func `look-ups of slow names do not use all threads, so other names find a free thread`() {
    var lookUps = lookUps(threads: 3, slowThreads: 2)
    let time = makeSlow(["slow1", "slow2", "slow3"], &lookUps)
    #expect(lookUps.ask("slow1", 0, at: at(time)) == .needsThread)
    #expect(lookUps.next(at: at(time)) == "slow1")
    #expect(lookUps.ask("slow2", 0, at: at(time)) == .needsThread)
    #expect(lookUps.next(at: at(time)) == "slow2")
    #expect(lookUps.ask("slow3", 0, at: at(time)) == .joined)
    #expect(lookUps.ask("quick", 0, at: at(time)) == .needsThread)
    #expect(lookUps.next(at: at(time)) == "quick")
    _ = lookUps.answered("quick", .success([]), at: at(time + 1))
    #expect(lookUps.next(at: at(time + 1)) == nil)
    _ = lookUps.answered("slow1", .success([]), at: at(time + 2))
    #expect(lookUps.next(at: at(time + 2)) == "slow3")
  }

  @Test func `a free thread takes slow names and other names in turn`() {
    var lookUps = lookUps(threads: 1, slowThreads: 1)
    let time = at(makeSlow(["slow1", "slow2"], &lookUps))
    for name in ["slow1", "slow2", "a", "b"] { _ = lookUps.ask(name, 0, at: time) }
    var order: [String] = []
    while let name = lookUps.next(at: time) {
      order.append(name)
      _ = lookUps.answered(name, .success([]), at: time)
    }
    #expect(order == ["slow1", "a", "slow2", "b"] || order == ["a", "slow1", "b", "slow2"])
  }

  @Test func `a name no longer counts as slow after a quick answer, and after ten minutes`() {
    var lookUps = lookUps(threads: 3, slowThreads: 1)
    let time = makeSlow(["hog", "answered", "forgotten"], &lookUps)
    _ = lookUps.ask("answered", 0, at: at(time))
    #expect(lookUps.next(at: at(time)) == "answered")
    _ = lookUps.answered("answered", .success([]), at: at(time + 999))
    #expect(lookUps.next(at: at(time + 999)) == nil)
    // Now the only thread for slow names is in use.
    _ = lookUps.ask("hog", 0, at: at(time + 1000))
    #expect(lookUps.next(at: at(time + 1000)) == "hog")
    #expect(lookUps.ask("answered", 0, at: at(time + 1000)) == .needsThread)
    #expect(lookUps.next(at: at(time + 1000)) == "answered")
    #expect(lookUps.ask("forgotten", 0, at: at(time + 600_000)) == .needsThread)
  }

  @Test func `a name counts as slow for ten minutes`() {
    var lookUps = lookUps(threads: 3, slowThreads: 1)
    let time = makeSlow(["forgotten", "hog"], &lookUps)
    _ = lookUps.ask("hog", 0, at: at(time))
    _ = lookUps.next(at: at(time))
    // The ten minutes count from 1000 ms, when its look-up ended.
    #expect(lookUps.ask("forgotten", 0, at: at(600_999)) == .joined)
  }

  @Test(arguments: [(NameError.Kind.noAddress, UInt64(1000)), (.noAnswer, 100)])
  func `a failed look-up is remembered for a short time`(_ kind: NameError.Kind, _ memory: UInt64) {
    var lookUps = lookUps()
    let error = NameError("no", kind)
    _ = lookUps.ask("a", 0, at: at(0))
    _ = lookUps.next(at: at(0))
    #expect(lookUps.answered("a", .failure(error), at: at(10)) == [0])
    #expect(lookUps.ask("a", 1, at: at(10 + memory - 1)) == .failed(error))
    #expect(lookUps.next(at: at(10 + memory - 1)) == nil)
    #expect(lookUps.ask("a", 2, at: at(10 + memory)) == .needsThread)
  }

  @Test func `a look-up that this process could not make is tried again at once`() {
    var lookUps = lookUps()
    _ = lookUps.ask("a", 0, at: at(0))
    _ = lookUps.next(at: at(0))
    _ = lookUps.answered("a", .failure(NameError("Too many open files", .notAsked)), at: at(1))
    _ = lookUps.next(at: at(1))
    #expect(lookUps.ask("a", 1, at: at(1)) == .needsThread)
  }

  @Test func `a full queue refuses another name, and the error says how many names wait`() throws {
    var lookUps = lookUps(threads: 1, waiting: 2)
    _ = lookUps.ask("a", 0, at: at(0))
    _ = lookUps.next(at: at(0))
    #expect(lookUps.ask("b", 1, at: at(0)) == .joined)
    #expect(lookUps.ask("c", 2, at: at(0)) == .joined)
    guard case .failed(let error) = lookUps.ask("d", 3, at: at(0)) else { throw Unexpected() }
    #expect(error.kind == .notAsked && error.reason.hasPrefix("2 names already wait to be looked up; send"))
    // If a name already waits, a further caller that asks for it takes no place in the queue.
    #expect(lookUps.ask("c", 4, at: at(0)) == .joined)
    #expect(lookUps.ask("a", 5, at: at(0)) == .joined)
  }

  @Test func `if no thread can start, callers fail, unless a running thread can look the name up`() {
    var lookUps = lookUps()
    _ = lookUps.ask("a", 1, at: at(0))
    _ = lookUps.ask("a", 2, at: at(0))
    #expect(lookUps.threadDidNotStart() == [1, 2])
    #expect(lookUps.ask("b", 3, at: at(0)) == .needsThread)
    #expect(lookUps.ask("c", 4, at: at(0)) == .needsThread)
    #expect(lookUps.threadDidNotStart().isEmpty)
    #expect(lookUps.next(at: at(0)) == "b")
    _ = lookUps.answered("b", .success([]), at: at(0))
    #expect(lookUps.next(at: at(0)) == "c")
  }

  @Test func `the number of remembered failures is limited`() {
    var failures = ExpiringTable<NameError>(limit: 2)
    for name in ["a", "b", "c"] { failures.add(Self.unknown, for: name, until: at(1000), at: at(0)) }
    #expect(["a", "b", "c"].map { failures.value(of: $0, at: at(999)) != nil } == [true, true, false])
    failures.add(Self.unknown, for: "c", until: at(2000), at: at(1000))
    #expect(["a", "b", "c"].map { failures.value(of: $0, at: at(1000)) != nil } == [false, false, true])
  }

  @Test func `a later entry for a name stays when the earlier entry expires`() {
    var names = ExpiringTable<Int>(limit: 10)
    names.add(1, for: "a", until: at(1000), at: at(0))
    names.add(2, for: "a", until: at(3000), at: at(500))
    names.add(3, for: "b", until: at(3000), at: at(1500))
    #expect(names.value(of: "a", at: at(2000)) == 2)
  }

  @Test(arguments: [(EAI_NONAME, NameError.Kind.noAddress), (EAI_AGAIN, .noAnswer), (EAI_MEMORY, .notAsked)])
  func `the system's error decides how long a failure is remembered`(_ code: Int32, _ kind: NameError.Kind) {
    #expect(SystemNames.failure(code, 0).kind == kind)
  }

  @Test func `if a look-up fails because no descriptor is free, the error names the limit of descriptors`() {
    let error = SystemNames.failure(EAI_SYSTEM, EMFILE)
    #expect(error.kind == .notAsked && error.advice.contains("ulimit -n"))
  }

  private struct Unexpected: Error {}
}
