import SluiceClient
import Sluice
import SluiceMessages
import SluicePipeline
import SluicePlugin
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

@Suite struct CancellationTests {
  /// A server that sends a head and the first bytes of a body that never ends.
  private static func endless() throws -> ScriptedServer {
    try ScriptedServer(.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nab"), .receiveToEnd)
  }

  private static func silent() throws -> ScriptedServer { try ScriptedServer(.receiveHead, .receiveToEnd) }

  @Test func `a cancelled task sends nothing`() async throws {
    let server = try Self.silent()
    defer { server.stop() }
    try await withClient { client in
      let url = try server.url()
      for isStream in [false, true] {
        let go = Signal()
        let task = Task {
          try? await go.wait()
          return await failure { () throws(TransactionError) in
            if isStream { _ = try await client.bytes(from: url) } else { _ = try await client.data(from: url) }
          }
        }
        task.cancel()
        go.set()
        let error = await task.value
        #expect(error?.code == .cancelled && error?.isBeforeSending == true)
      }
      #expect(server.connectionCount == 0)
    }
  }

  @Test func `a handle that was cancelled before the call sends nothing`() async throws {
    let server = try Self.silent()
    defer { server.stop() }
    try await withClient { client in
      let url = try server.url()
      let handle = Cancellation()
      handle.cancel()
      let error = await failure { () throws(TransactionError) in
        _ = try await client.data(from: url, cancellation: handle)
      }
      #expect(error?.code == .cancelled && server.connectionCount == 0)
    }
  }

  @Test(arguments: [false, true])
  func `a call that waits for the head of its response can be cancelled`(byHandle: Bool) async throws {
    let server = try Self.silent()
    defer { server.stop() }
    try await withClient { client in
      let url = try server.url()
      for isStream in [false, true] {
        let handle = Cancellation()
        let task = Task {
          await failure { () throws(TransactionError) in
            if isStream {
              _ = try await client.bytes(from: url, cancellation: handle)
            } else {
              _ = try await client.data(from: url, cancellation: handle)
            }
          }
        }
        try await server.waitForConnections(isStream ? 2 : 1)
        if byHandle { handle.cancel() } else { task.cancel() }
        #expect(await task.value?.code == .cancelled)
      }
      // The connections end when their requests end.
      try await server.waitForScripts()
    }
  }

  @Test(arguments: [false, true]) func `a task that reads a body can be cancelled`(byHandle: Bool) async throws {
    let server = try Self.endless()
    defer { server.stop() }
    try await withClient { client in
      let url = try server.url()
      let handle = Cancellation()
      let hasBegun = Signal()
      let task = Task {
        await #expect(throws: TransactionError.self) {
          for try await _ in try await client.bytes(from: url, cancellation: handle).bytes { hasBegun.set() }
        }
      }
      try await hasBegun.wait()
      if byHandle { handle.cancel() } else { task.cancel() }
      #expect(await task.value?.code == .cancelled)
      try await server.waitForScripts()
    }
  }

  @Test func `dropping the sequence ends the transfer`() async throws {
    let server = try Self.endless()
    defer { server.stop() }
    let ledger = EndLedger()
    try await withClient {
      $0.addStage("ledger", ledger.code)
    } _: { client in
      do { _ = try await client.bytes(from: server.url()) }
      try await server.waitForScripts()
      // A reader that stops in the middle ends the transfer too.
      for try await _ in try await client.bytes(from: server.url()).bytes { break }
      try await server.waitForScripts()
      #expect(try await ledger.waitForEnds() == [.cancelled, .cancelled])
    }
  }

  @Test func `an iterator keeps the transfer alive after its sequence was released`() async throws {
    let rest = Signal()
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab"), .wait(rest), .send("cd"))
    defer { server.stop() }
    try await withClient { client in
      var iterator = try await client.bytes(from: server.url()).bytes.makeAsyncIterator()
      rest.set()
      var read: [UInt8] = []
      while let byte = try await iterator.next() { read.append(byte) }
      #expect(read == Array("abcd".utf8))
    }
  }

  @Test func `a cancellation after the end has no effect, even if it is repeated`() async throws {
    let server = try LoopbackServer { _ in .text("ok") }
    defer { server.stop() }
    try await withClient { client in
      let handle = Cancellation()
      let (bytes, _) = try await client.data(from: server.url(), cancellation: handle)
      handle.cancel()
      handle.cancel()
      #expect(bytes.count == 2)
    }
  }

  @Test func `a thousand calls that are cancelled at different moments all end`() async throws {
    let server = try LoopbackServer { _ in .text("ok") }
    defer { server.stop() }
    let ledger = EndLedger()
    try await withClient {
      $0.addStage("ledger", ledger.code)
    } _: { client in
      let url = try server.url()
      await withTaskGroup { group in
        for number in 0..<1000 {
          group.addTask {
            let task = Task {
              if number % 2 == 0 {
                for try await _ in try await client.bytes(from: url).bytes {}
              } else {
                _ = try await client.data(from: url)
              }
            }
            for _ in 0..<(number % 50) { await Task.yield() }
            task.cancel()
            _ = await task.result
          }
        }
      }
      // A reader is told before its transaction ends.
      try await ledger.waitForEnds()
    }
  }
}

/// The outcomes of the transactions of an engine.
private final class EndLedger: Sendable {
  private struct Entries {
    var begun = 0
    var outcomes: [TransactionOutcome] = []
  }

  private let entries = Watched(Entries())

  var code: StageCode {
    StageCode(observing: { [entries] event in
      let outcome = event.kind == .didComplete ? event.outcome : nil
      if event.kind == .willExecute { entries.update { $0.begun += 1 } }
      if let outcome { entries.update { $0.outcomes.append(outcome) } }
    })
  }

  /// Waits until each transaction that has begun has ended. Returns the outcomes, in the order of the ends.
  @discardableResult
  func waitForEnds() async throws -> [TransactionOutcome] {
    try await entries.wait(for: "the end of every transaction") { $0.outcomes.count == $0.begun }.outcomes
  }
}
