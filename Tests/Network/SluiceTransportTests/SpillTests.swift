import Glibc
import SluiceMessages
import SluicePipeline
import SluiceTestKit
import SluiceTestPipeline
import SluiceTestServers
import Testing

@testable import SluiceTransport

/// Bodies that are written to files by the threads for this purpose. Each test runs in its own process, where nothing
/// else uses these threads.
@Suite struct SpillTests {
  @Test func `the file of a body has no name in its folder, and can be read by its path`() async throws {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryDirectory()
      setenv("TMPDIR", folder.path, 1)
      let server = try ScriptedServer(ScriptStep.respond(body: "more than four"))
      let record = try await Wire().send(
        Request(url: HTTPURL(server.baseURL)), options: TransferOptions(spillBytes: 4))
      let body = try #require(record.ends.first?.body)
      guard case .file(let file) = body else { throw TestKitError("no file: \(String(describing: record.error))") }
      #expect(file.byteCount == 14)
      #expect(try FileTree.readText(file.path) == "more than four")
      #expect(FileTree.names(in: folder.path) == [])
    }
  }

  @Test(.enabled(if: NginxServer.isAvailable)) func `a blocked disk stops the transfer, not the loop`() async throws {
    await #expect(processExitsWith: .success) {
      let threads = try StoppedThreads()
      let nginx = try await NginxServer.start(.serving(bigFileBytes: 30_000_000))
      let wire = try Wire()
      let big = Probe()
      wire.start(Request(url: try HTTPURL(nginx.baseURL + "/big")), big, options: TransferOptions(spillBytes: 100_000))
      try await big.record.wait(for: "the head") { $0.head != nil }
      // If the transfer still read the big body, it would have ended before these requests end.
      for _ in 0..<50 { #expect(try await wire.get(nginx.baseURL + "/").error == nil) }
      #expect(big.record.value.ends.isEmpty)
      threads.release()
      let record = try await big.waitForEnd()
      guard case .file(let file)? = record.ends.first?.body else {
        throw TestKitError("no file: \(String(describing: record.error))")
      }
      var facts = stat()
      #expect(stat(file.path, &facts) == 0 && facts.st_size == 30_000_000 && file.byteCount == 30_000_000)
    }
  }

  @Test func `a transfer ends only when the whole body is written to the disk`() async throws {
    await #expect(processExitsWith: .success) {
      let threads = try StoppedThreads()
      let server = try ScriptedServer(ScriptStep.respond(body: "more than four"))
      let wire = try Wire()
      let probe = Probe()
      wire.start(Request(url: try HTTPURL(server.baseURL)), probe, options: TransferOptions(spillBytes: 4))
      try await probe.record.wait(for: "the head") { $0.head != nil }
      let other = try ScriptedServer(ScriptStep.respond(body: "a"))
      #expect(try await wire.get(other.baseURL).error == nil)
      #expect(probe.record.value.ends.isEmpty)
      threads.release()
      #expect(try await probe.waitForEnd().error == nil)
    }
  }

  @Test func `a transfer that is cancelled while it waits for the disk ends at once`() async throws {
    await #expect(processExitsWith: .success) {
      let threads = try StoppedThreads()
      let server = try ScriptedServer(ScriptStep.respond(body: "more than four"))
      let wire = try Wire()
      let probe = Probe()
      let transfers = Watched<[UncheckedTransfer]>([])
      wire.start(Request(url: try HTTPURL(server.baseURL)), probe, options: TransferOptions(spillBytes: 4)) {
        transfer in
        let started = UncheckedTransfer(transfer)
        transfers.update { $0.append(started) }
      }
      try await probe.record.wait(for: "the head") { $0.head != nil }
      await wire.onLoop { for transfer in transfers.value { transfer.transfer.cancel() } }
      #expect(try await probe.waitForEnd().code == .cancelled)
      threads.release()
    }
  }

  @Test func `when a mebibyte waits to be written, the body pauses, and later reports once that it can continue`()
    async throws
  {
    await #expect(processExitsWith: .success) {
      let threads = try StoppedThreads()
      let loop = StubLoop()
      var readyCount = 0
      let body = SpilledBody(on: loop) { readyCount += 1 }
      let piece = [UInt8](repeating: 7, count: 1 << 18)
      #expect(try (0..<4).map { _ in try body.append(piece) } == [.proceed, .proceed, .proceed, .pause])
      #expect(try body.finish() == nil)
      threads.release()
      #expect(loop.run(until: { readyCount == 1 }))
      #expect(try body.finish()?.byteCount == 1 << 20)
    }
  }

  @Test func `a disk that accepts nothing for 30 seconds fails the body, and a slow disk does not`() async throws {
    await #expect(processExitsWith: .success) {
      let threads = try StoppedThreads()
      let loop = StubLoop()
      var readyCount = 0
      let body = SpilledBody(on: loop) { readyCount += 1 }
      #expect(try body.append([1]) == .proceed)
      #expect(try body.finish() == nil)
      loop.advance(by: .seconds(20))
      SpillThreads.noteProgress()
      loop.advance(by: .seconds(20))
      #expect(readyCount == 0)
      loop.advance(by: .seconds(20))
      #expect(readyCount == 1)
      let error = #expect(throws: TransportError.self) { try body.finish() }
      #expect(error?.code == .bodyFile && error?.message.contains("accepted any part of a body for 30.0 s") == true)
      threads.release()
    }
  }

  @Test(.enabled(if: NginxServer.isAvailable)) func `a full disk fails the transfer`() async throws {
    await #expect(processExitsWith: .success) {
      var limit = rlimit(rlim_cur: 200_000, rlim_max: 200_000)
      let nginx = try await NginxServer.start(.serving(bigFileBytes: 3_000_000))
      try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
      let record = try await Wire().send(
        Request(url: HTTPURL(nginx.baseURL + "/big")), options: TransferOptions(spillBytes: 100_000))
      #expect(record.code == .bodyFile)
      #expect(record.error?.message.contains("cannot write a temporary file in") == true)
    }
  }

  @Test func `if no descriptor is free for a body's file, the error says which limit to raise`() async throws {
    await #expect(processExitsWith: .success) {
      let loop = StubLoop()
      var readyCount = 0
      let body = SpilledBody(on: loop) { readyCount += 1 }
      var limit = rlimit()
      try #require(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
      let before = limit.rlim_cur
      limit.rlim_cur = 0
      try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
      defer {
        limit.rlim_cur = before
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      }
      #expect(try body.append([1]) == .proceed)
      // How fast the thread is decides which call reports the failure.
      var error: TransportError?
      while error == nil {
        do {
          guard try body.finish() == nil else { break }
          #expect(loop.run(until: { readyCount > 0 }))
        } catch let failure as TransportError { error = failure }
      }
      #expect(error?.code == .bodyFile && error?.message.contains("ulimit -n") == true)
    }
  }
}

/// Blocks both writing threads until ``release()`` is called.
private final class StoppedThreads {
  private let stopped = Watched(0)
  private let gate = Signal()
  private var files: [SpillFile] = []

  init() throws {
    for _ in 0..<2 {
      let file = SpillFile { [stopped, gate] in
        stopped.update { $0 += 1 }
        gate.waitBlocking()
      }
      files.append(file)
      // More bytes wait than the limit allows, so the thread calls the closure when it has written this piece.
      _ = try file.append([UInt8](repeating: 0, count: SpillFile.fullBytes))
    }
    guard stopped.waitBlocking(upTo: Patience.limit, until: { $0 == 2 }) != nil else {
      throw TestKitError("the writing threads did not block")
    }
  }

  func release() { gate.set() }
}

/// Makes a transfer `Sendable`. The tests use it only on its loop.
private struct UncheckedTransfer: @unchecked Sendable {
  let transfer: any Transfer
  init(_ transfer: any Transfer) { self.transfer = transfer }
}
