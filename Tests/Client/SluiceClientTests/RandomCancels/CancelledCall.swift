import SluiceClient
import Sluice
import SluiceMessages
import SluicePipeline
import SluiceTestKit
import SluiceTestServers

/// How many objects of a run exist.
struct CancelCensus: Equatable, Sendable {
  var calls = 0
  /// Sequences of uploads that are being read.
  var sequences = 0
  var engines = 0
}

/// One call that is cancelled as planned. This object is also its delegate and its server.
final class CancelledCall: TransactionDelegate {
  let plan: CancelPlan
  private let handle = Cancellation()
  /// Set at the planned moment, or when the call ends before this moment.
  private let isDue = Signal()
  /// Set after the cancellation. Some calls wait for this signal.
  private let isCancelled = Signal()
  private let end = Watched<CancelEnd?>(nil)
  /// One element for each result that the delegate got: the code of its error, or nil for a success.
  private let results = Watched<[ErrorCode?]>([])
  private let census: Watched<CancelCensus>

  init(_ plan: CancelPlan, _ census: Watched<CancelCensus>) {
    self.plan = plan
    self.census = census
    census.update { $0.calls += 1 }
  }

  deinit { census.update { $0.calls -= 1 } }

  var codes: [ErrorCode?] { results.value }

  func transactionDidComplete(_ result: TransactionResult) {
    let code = result.error?.code
    results.update { $0.append(code) }
  }

  // MARK: The server

  /// Returns the server's steps for the answer to this call.
  func answer() -> [ScriptStep] {
    if case .requestSeen = plan.moment { isDue.set() }
    let head = ScriptStep.send("HTTP/1.1 200 OK\r\nContent-Length: \(plan.byteCount)\r\n\r\n")
    let part = plan.answer == .whole ? plan.byteCount : plan.byteCount / 2
    var steps: [ScriptStep] = plan.answer == .none ? [] : [head, .sendPattern(pattern, byteCount: part)]
    if case .bodyMoved = plan.moment, [.data, .download].contains(plan.call) { steps.append(.signal(isDue)) }
    return plan.answer == .whole ? steps : steps + [.receiveToEnd]
  }

  // MARK: The caller

  /// Makes the call, cancels it, and waits until the call has ended.
  ///
  /// - Throws: if the call hangs.
  func run(_ client: Client, _ url: HTTPURL, to path: String) async throws -> CancelEnd {
    let task = Task {
      if case .beforeTheCall = plan.moment { try? await isCancelled.wait() }
      let ending: CancelEnd
      do { ending = try await perform(client, url, path) } catch let error as TransactionError {
        ending = Self.end(error)
      } catch let failure as DownloadFailure {
        ending = Self.end(failure.error)
      } catch { ending = .failed("\(error)") }
      end.update { $0 = ending }
      isDue.set()
    }
    switch plan.moment {
    case .beforeTheCall: break
    case .yields(let count): for _ in 0..<count { await Task.yield() }
    case .requestSeen, .bodyMoved, .theEnd: try await isDue.wait(for: "the moment of \(plan)")
    }
    if plan.isFromThread { try await blocking { self.cancel(task) } } else { cancel(task) }
    isCancelled.set()
    return try await end.wait(for: "the end of \(plan)") { $0 != nil } ?? .failed("no end")
  }

  private func cancel(_ task: Task<Void, Never>) {
    if plan.means == .task || plan.means == .both { task.cancel() }
    if plan.means == .handle || plan.means == .both { handle.cancel() }
  }

  private static func end(_ error: TransactionError) -> CancelEnd {
    error.code == .cancelled ? .cancelled : .failed("\(error)")
  }

  private func perform(_ client: Client, _ url: HTTPURL, _ path: String) async throws -> CancelEnd {
    switch plan.call {
    case .data:
      let (bytes, _) = try await client.data(from: url, delegate: self, cancellation: handle)
      return whole(bytes.count)
    case .bytes: return try await read(client, url)
    case .upload:
      let pieces = ProducedPieces(count: plan.isUploadFinite ? 20 : nil, census: census) { [self] in moved($0) }
      let (bytes, _) = try await client.upload(
        for: Request(method: "POST", url: url), from: pieces, byteCount: plan.isUploadFinite ? 20_000 : nil,
        delegate: self, cancellation: handle)
      return whole(bytes.count)
    case .download:
      _ = try await client.download(from: url, to: path, delegate: self, cancellation: handle)
      return .whole
    }
  }

  private func read(_ client: Client, _ url: HTTPURL) async throws -> CancelEnd {
    let (bytes, _) = try await client.bytes(from: url, delegate: self, cancellation: handle)
    var count = 0
    for try await chunk in bytes.chunks {
      count += chunk.count
      guard moved(count) else { continue }
      if plan.means == .release { return .released }
      if plan.holdsReading { try? await isCancelled.wait() }
    }
    return whole(count)
  }

  /// Returns whether the planned amount of the body has been read or produced.
  @discardableResult private func moved(_ count: Int) -> Bool {
    guard case .bodyMoved(let planned) = plan.moment, count >= planned else { return false }
    isDue.set()
    return true
  }

  private func whole(_ count: Int) -> CancelEnd {
    count == plan.byteCount ? .whole : .failed("\(count) of \(plan.byteCount) bytes")
  }
}

/// Pieces of 1,000 bytes. Without a count, the sequence never ends.
private struct ProducedPieces: AsyncSequence, Sendable {
  let count: Int?
  let census: Watched<CancelCensus>
  /// Called with the number of pieces that were made so far.
  let produced: @Sendable (Int) -> Void

  final class AsyncIterator: AsyncIteratorProtocol {
    private let pieces: ProducedPieces
    private var made = 0

    init(_ pieces: ProducedPieces) {
      self.pieces = pieces
      pieces.census.update { $0.sequences += 1 }
    }

    deinit { pieces.census.update { $0.sequences -= 1 } }

    func next() async -> [UInt8]? {
      await Task.yield()
      guard made != pieces.count else { return nil }
      made += 1
      pieces.produced(made)
      return [UInt8](repeating: 7, count: 1000)
    }
  }

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}
