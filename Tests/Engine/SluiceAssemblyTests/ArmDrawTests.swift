import SluiceMessages
import SluicePipeline
import Testing

@testable import SluiceAssembly

/// How transactions are drawn for a canary.
@Suite struct ArmDrawTests {
  private static func request(_ user: Int? = nil) -> Request {
    Request(url: HTTPURL("http://example.com/"), headers: user.map { ["x-user": "user-\($0)"] } ?? [:])
  }

  @Test(arguments: [1.0, 10, 50, 99.9])
  func `of a million transactions on two loops, the share is exact to 0.2 points`(percent: Double) {
    let request = Self.request()
    var count = 0
    for _ in 0..<2 {
      var draw = ArmDraw(.canary(Pipeline()), percent: percent, by: .transaction, salt: 1)
      for _ in 0..<500_000 where draw.draws(request) { count += 1 }
    }
    #expect(abs(Double(count) / 10_000 - percent) < 0.2, "\(count)")
  }

  @Test(arguments: [1.0, 10, 50])
  func `of many values of a header, the share is that of the step`(percent: Double) {
    var draw = ArmDraw(.canary(Pipeline()), percent: percent, by: .header("X-User"), salt: 7)
    let count = (0..<20_000).count { draw.draws(Self.request($0)) }
    #expect(abs(Double(count) / 200 - percent) < 1.5, "\(count)")
  }

  @Test func `a value of a header never leaves the canary when the share grows, on any loop`() {
    for user in 0..<1000 {
      let request = Self.request(user)
      let draws = [1.0, 5, 20, 50, 99].map { percent in
        var loops = (0..<2).map { _ in ArmDraw(.canary(Pipeline()), percent: percent, by: .header("x-user"), salt: 3) }
        #expect(loops[0].draws(request) == loops[1].draws(request))
        return loops[0].draws(request)
      }
      #expect(draws == draws.sorted { !$0 && $1 })
    }
  }

  @Test func `another canary gets other values of the header`() {
    var draws = [1, 2].map { ArmDraw(.canary(Pipeline()), percent: 50, by: .header("x-user"), salt: $0) }
    let different = (0..<1000).count { user in
      let request = Self.request(user)
      return draws[0].draws(request) != draws[1].draws(request)
    }
    #expect((350...650).contains(different))
  }

  @Test func `a transaction without the header is drawn by itself`() {
    var draw = ArmDraw(.canary(Pipeline()), percent: 50, by: .header("x-user"), salt: 3)
    let request = Self.request()
    #expect((300...700).contains((0..<1000).count { _ in draw.draws(request) }))
  }

  @Test func `a share of nothing draws nothing`() {
    var draw = ArmDraw(.canary(Pipeline()), percent: 0, by: .transaction, salt: 3)
    let request = Self.request()
    #expect(!(0..<1000).contains { _ in draw.draws(request) })
  }
}
