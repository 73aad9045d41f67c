import CSluice
import Glibc
import SluiceJSON
import SluiceMessages
import SluicePipeline
import SluiceTestKit
import SluiceTestPipeline
import Testing

@testable import SluicePluginHost

/// on_notification of a plugin in C. The tests move the clock of the loop.
struct NotificationOfferTests {
  private func offer(_ stage: StageFixture, _ topic: String) async -> NotificationOffer {
    await stage.instance.offer(topic, ["number": 7], until: stage.loop.now + .seconds(10))
  }

  private func open(_ stage: StageFixture) throws {
    let gate = try #require("fixture.gate".withCString { stage.generation.table.extension($0) })
    sem_post(UnsafeMutableRawPointer(mutating: gate).assumingMemoryBound(to: sem_t.self))
  }

  @Test(arguments: [
    ("take", NotificationOffer.ended(.newData)), ("nothing", .ended(.noData)), ("fail", .ended(.failed)),
    ("elsewhere", .ended(.newData)), ("pass", .passed), ("fault", .passed), ("twice", .ended(.newData)),
    ("forge", .ended(.noData)), ("no-outcome", .ended(.failed)),
  ])
  func `a plugin can take and complete a notification, or pass it on`(
    topic: String, end: NotificationOffer
  ) async throws {
    let stage = try await StageFixture("handles-work")
    #expect(await offer(stage, topic) == end)
    #expect(stage.told("payload") == ["7"] && stage.told("notified-\(topic)") == ["0"])
  }

  @Test func `a notification that is taken and never completed misses its deadline`() async throws {
    let stage = try await StageFixture("handles-work")
    let (instance, end) = (stage.instance, stage.loop.now + .seconds(10))
    async let offer = instance.offer("never", [:], until: end)
    try await stage.log.wait { $0.contains { $0.message == "notified-never=0" } }
    stage.loop.advance(by: .seconds(10))
    #expect(await offer == .ended(.missedDeadline))
  }

  @Test func `if a plugin both completes a notification and passes it on, it counts as taken and as a violation`()
    async throws
  {
    let stage = try await StageFixture("handles-work")
    #expect(await offer(stage, "complete-and-pass") == .ended(.newData))
    #expect(await offer(stage, "take") == .ended(.newData))
    #expect(stage.instance.violations[.passedOnCompleted] == 1)
  }

  @Test func `if the deadline of a notification passes while another call blocks, the notification is never delivered`()
    async throws
  {
    let stage = try await StageFixture("handles-work")
    let (instance, end) = (stage.instance, stage.loop.now + .seconds(10))
    async let blocked = instance.offer("block", [:], until: end)
    try await stage.log.wait { $0.contains { $0.message == "notified-block=0" } }
    let isEnded = Watched(false)
    let waiting = Task {
      defer { isEnded.update { $0 = true } }
      return await instance.offer("take", [:], until: end)
    }
    while !isEnded.value {
      stage.loop.advance(by: .seconds(10))
      await Task.yield()
    }
    #expect(await waiting.value == .ended(.missedDeadline))
    #expect(await blocked == .ended(.missedDeadline))
    try open(stage)
    try await stage.log.wait { $0.contains { $0.message == "unblocked=3" } }
    #expect(instance.destroy(within: .seconds(30)))
    #expect(stage.told("notified-take").isEmpty)
  }

  @Test func `the end of the instance ends open notifications, and later notifications are refused`() async throws {
    let stage = try await StageFixture("handles-work")
    let (instance, end) = (stage.instance, stage.loop.now + .seconds(10))
    async let kept = instance.offer("keep", [:], until: end)
    try await stage.log.wait { $0.contains { $0.message == "notified-keep=0" } }
    #expect(instance.destroy(within: .seconds(30)))
    #expect(await kept == .cutOff)
    #expect(stage.told("deactivated") == ["3"])
    #expect(await offer(stage, "take") == .gone)
    #expect(stage.told("calls") == ["1"])
  }

  @Test func `a late completion is STALE if its slot is already used for another call`() async throws {
    let stage = try await StageFixture("handles-work")
    let (instance, end) = (stage.instance, stage.loop.now + .seconds(10))
    async let kept = instance.offer("keep", [:], until: end)
    try await stage.log.wait { $0.contains { $0.message == "notified-keep=0" } }
    stage.loop.advance(by: .seconds(10))
    #expect(await kept == .ended(.missedDeadline))
    for _ in 0..<200 { #expect(await offer(stage, "take") == .ended(.newData)) }
    #expect(await offer(stage, "use-kept") == .ended(.noData))
    #expect(stage.told("kept") == ["3"])
  }

  @Test func `if two threads complete a call at once, exactly one succeeds (10,000 rounds, a million in a soak)`()
    async throws
  {
    let rounds = getenv("SLUICE_SOAK") == nil ? 10_000 : 1_000_000
    let stage = try await StageFixture("races-completions")
    let (instance, end) = (stage.instance, stage.loop.now + .seconds(10))
    for _ in 0..<rounds / 50 {
      let offers = await withTaskGroup { group in
        for _ in 0..<50 { group.addTask { await instance.offer("race", [:], until: end) } }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(offers == Array(repeating: .ended(.newData), count: 50))
      stage.loop.perform {}
    }
    #expect(instance.destroy(within: .seconds(30)))
    let counts = stage.numbers("fixture.counts", CLong.self, count: 4)
    #expect(counts.prefix(2) == [rounds, rounds])
    #expect(counts.dropFirst(2).reduce(0, +) == rounds)
  }

  @Test func `if two threads complete many calls at the same time, exactly one succeeds for each call`() async throws {
    // Completes 10,000 calls, or a million in `make soak`.
    let rounds = getenv("SLUICE_SOAK") == nil ? 10_000 : 1_000_000
    let loop = StubLoop()
    let table = CompletionTable()
    let ends = Watched(0)
    for _ in 0..<rounds {
      let work = OpenWork(on: loop, until: .distantFuture, in: table) { _ in ends.update { $0 += 1 } }
      let token = try #require(work.open())
      async let first = table.complete(token, .newData)
      async let second = table.close(token, .outcome(.missedDeadline))
      let (answer, isExpired) = await (first, second)
      #expect((answer == .accepted) != isExpired)
      loop.perform {}
    }
    #expect(ends.value == rounds)
  }
}
