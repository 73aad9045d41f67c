import SluicePipeline
import Testing

@testable import SluiceTransport

@Suite struct AddressCacheTests {
  private func at(_ milliseconds: UInt64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

  @Test func `if an old address is still used, a failed look-up is repeated after a second`() {
    var cache = AddressCache()
    cache.didResolve(to: ["192.0.2.1"], at: at(0))
    #expect(!cache.wantsRefresh(at: at(59_999)) && cache.wantsRefresh(at: at(60_000)))
    cache.didNotResolve(at: at(60_000))
    #expect(!cache.wantsRefresh(at: at(60_999)) && cache.wantsRefresh(at: at(61_000)))
    #expect(cache.isUsable(at: at(61_000)))
  }
}
