import Glibc
import Sluice
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// POSTs through a proxy that is killed and started again and again.
///
/// Sends 60 POSTs through each proxy, or 10,000 with `SLUICE_SOAK=1`.
@Suite(.enabled(if: ProxyServer.areAvailable)) struct ProxyRestartTests {
  private static let rounds = getenv("SLUICE_SOAK") != nil ? 100 : 3
  private static let batchCount = getenv("SLUICE_SOAK") != nil ? 25 : 5

  /// What is known of one POST.
  private struct Post: Sendable {
    var errors: [TransactionError?] = []
    var executions = 0
  }

  private static func number(_ request: ServerRequest) -> Int? { Int(String(decoding: request.body, as: UTF8.self)) }

  @Test(arguments: ProxyWay.all)
  func `each POST has one result, is executed at most once, and its error says whether it may have been sent`(
    _ way: ProxyWay
  ) async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    // tinyproxy reads the requests itself. It closes each connection after the response, without saying so before. A POST
    // that follows on the connection meets this close, and it is not known whether it was executed.
    let forwards = way.kind == .tinyproxy
    let (proxy, url) = try await way.start()
    var configuration = Configuration()
    configuration.transport.loops = 1
    configuration.transport.proxy = url
    configuration.transport.tls.ca = try await TestCertificates.shared().authority
    configuration.transport.connectTimeout = .seconds(300)
    let posts = Watched<[Int: Post]>([:])
    var lasting = try Engine(configuration)

    /// Sends a batch, meanwhile does `disturb`, and returns how the POSTs of the batch ended.
    func send(_ disturb: () async throws -> Void = {}) async throws -> [Post] {
      if forwards {
        await lasting.shutdown()
        lasting = try Engine(configuration)
      }
      let first = posts.value.count
      let batch = first..<first + Self.batchCount
      for number in batch {
        posts.update { $0[number] = Post() }
        let request = try Request(
          method: "POST", url: HTTPURL("http://localhost:\(server.port)/"), body: .text("\(number)"))
        lasting.submit(request) { result in posts.update { $0[number]?.errors.append(result.error) } }
      }
      try await disturb()
      let ended = try await posts.wait(for: "the results") { posts in
        batch.allSatisfy { posts[$0]?.errors.isEmpty == false }
      }
      return batch.compactMap { ended[$0] }
    }

    for _ in 0..<Self.rounds {
      for post in try await send() {
        let error = post.errors.first ?? nil
        #expect(error == nil || forwards && error?.code == .resent, "\(post)")
      }

      // The server has all of them, and the proxy dies before the answers.
      server.hold()
      let held = try await send {
        try await server.waitForHeld(Self.batchCount)
        try await proxy.kill()
      }
      server.release()
      for post in held { #expect(post.errors.first??.isBeforeSending == false) }

      // No proxy is there.
      for post in try await send() {
        #expect(post.errors.first??.code == .proxy && post.errors.first??.isBeforeSending == true)
      }

      // The proxy dies while the server answers.
      try await proxy.restart()
      let count = server.requestCount
      _ = try await send {
        try await server.waitForRequests(count + Self.batchCount / 4)
        try await proxy.kill()
      }
      try await proxy.restart()
    }
    await lasting.shutdown()
    for request in server.requests {
      let number = try #require(Self.number(request))
      posts.update { $0[number]?.executions += 1 }
    }
    #expect(posts.value.count == 4 * Self.rounds * Self.batchCount)
    for (number, post) in posts.value {
      #expect(post.errors.count == 1 && post.executions <= 1, "\(number): \(post)")
      guard let error = post.errors.first ?? nil else {
        #expect(post.executions == 1, "\(number): \(post)")
        continue
      }
      guard !error.isBeforeSending else {
        #expect(post.executions == 0, "\(number): \(post)")
        continue
      }
      #expect([.connectionLost, .resent].contains(error.code), "\(number): \(error)")
      #expect(error.message.contains("connection broke"), "\(error.message)")
      let isExplained = error.message.contains("the proxy \"localhost:\(proxy.port)\"")
      #expect(isExplained || !error.message.contains("closed by"), "\(error.message)")
    }
  }
}
