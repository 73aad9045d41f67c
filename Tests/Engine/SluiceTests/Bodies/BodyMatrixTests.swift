import Glibc
import Sluice
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceTestKit
import SluiceTestPipeline
import SluiceTestServers
import Testing

/// If two stages of any kind handle a body, both run in the order of the list, and nothing is retained afterwards. The
/// pairs run on requests and on responses, with bodies in memory, in files and streamed. They are compiled C plugins in
/// a real engine.
@Suite(.serialized) struct BodyMatrixTests {
  enum Kind: String, CaseIterable, CustomTestStringConvertible {
    case pieces = "PIECES"
    case suspends = "SUSPENDS"
    case whole = "WHOLE"
    case document = "DOCUMENT"
    case makes = "MAKES"
    case hit = "HIT"

    var seesPieces: Bool { self == .pieces || self == .suspends }
    var wantsWhole: Bool { self == .whole || self == .document }
    var testDescription: String { rawValue.lowercased() }
  }

  enum Mode: CaseIterable { case inMemory, spilled, streamed }

  private static let text = "a body that is longer than sixteen bytes"

  @Test(arguments: Kind.allCases, [false, true])
  func `no kind of body stage is skipped, whichever kind runs next to it`(first: Kind, isRequest: Bool) async throws {
    let libraries = try await Libraries(isRequest: isRequest)
    for second in Kind.allCases {
      for mode in Mode.allCases {
        let setup = try Setup(libraries, [first, second], isRequest: isRequest, mode)
        let outcome = try await setup.run()
        let name = "\(first), \(second), \(isRequest ? "request" : "response"), \(mode)"
        #expect(outcome == Self.expected([first, second], isRequest: isRequest), "\(name)")
        try await setup.probe.wait(for: "the release of the transaction: \(name)") { $0 == 0 }
      }
    }
  }

  /// Returns the expected output. The stages that want the whole body or make a new body act in the order of the list.
  /// If a stage wants the whole body, the earlier stages that see pieces get the body before this stage. All other
  /// stages that see pieces get the outgoing body.
  private static func expected(_ kinds: [Kind], isRequest: Bool) -> Outcome {
    var body = text
    var waiting: [Int] = []
    func mark(_ index: Int) -> String { "|stage-\(index)" }
    func pass() {
      body += waiting.map(mark).joined()
      waiting = []
    }
    if let hit = kinds.firstIndex(of: .hit) {
      body = "made" + mark(hit)
      if isRequest { return Outcome(sent: nil, received: body) }
    }
    for (index, kind) in kinds.enumerated() {
      if kind.seesPieces { waiting.append(index) }
      if kind == .makes { body = "made" + mark(index) }
      if kind.wantsWhole {
        pass()
        body += mark(index)
      }
    }
    pass()
    if isRequest { return Outcome(sent: body, received: "ok\n") }
    return Outcome(sent: kinds.contains(.hit) ? nil : "", received: body)
  }

  struct Outcome: Equatable {
    /// Nil if no request was sent.
    var sent: String?
    var received: String
  }

  /// The fixture `marks-bodies`, compiled once for each kind.
  private struct Libraries {
    private var products: [Kind: PluginCompiler.Product] = [:]

    init(isRequest: Bool) async throws {
      for (number, kind) in Kind.allCases.enumerated() {
        let product = try await PluginCompiler.compile(
          "marks-bodies", name: "marks-\(number)",
          defines: ["KIND=\(kind.rawValue)", "SIDE_IS_REQUEST=\(isRequest ? 1 : 0)"])
        chmod(product.path, 0o755)
        products[kind] = product
      }
    }

    func path(of kind: Kind) -> String { products[kind]?.path ?? "" }
  }

  /// Objects that transactions retain until they end.
  private final class Probe: Sendable {
    private let count: Watched<Int>
    init(_ count: Watched<Int>) {
      self.count = count
      count.update { $0 += 1 }
    }
    deinit { count.update { $0 -= 1 } }
    func touch() {}
  }

  private struct Setup {
    let probe = Watched(0)
    private let engine: Engine
    private let server: LoopbackServer
    private let mode: Mode
    private let isRequest: Bool
    private let file: TemporaryDirectory

    init(_ libraries: Libraries, _ kinds: [Kind], isRequest: Bool, _ mode: Mode) throws {
      self.mode = mode
      self.isRequest = isRequest
      file = try TemporaryDirectory()
      let text = text
      server = try LoopbackServer { _ in .text(isRequest ? "ok\n" : text) }
      let plugins = kinds.indices.map { "\"stage-\($0)\": {\"library\": \"\(libraries.path(of: kinds[$0]))\"}" }
      func list(_ isWanted: (Kind) -> Bool) -> String {
        kinds.indices.filter { isWanted(kinds[$0]) }.map { "\"stage-\($0)\"" }.joined(separator: ", ")
      }
      engine = try Engine(
        Configuration(
          text: Array(
            """
            {"plugins": {\(plugins.joined(separator: ", "))},
             "request": [\(list { isRequest || $0 == .hit })], "response": [\(list { !isRequest && $0 != .hit })],
             "transport": {"loops": 1, "spillBytes": \(mode == .spilled ? 16 : 65536)}}
            """.utf8)))
    }

    func run() async throws -> Outcome {
      let sink = mode == .streamed && !isRequest ? TextSink() : nil
      let result = await submit(try request(), sink)
      await engine.shutdown()
      let received = try result.response.map { try Self.content($0.body) } ?? ""
      let sent = server.requests.first.map { String(decoding: $0.body, as: UTF8.self) }
      server.stop()
      #expect(result.error == nil, "\(String(describing: result.error))")
      #expect(engine.unfinished == [0])
      return Outcome(sent: sent, received: (sink?.text.value ?? "") + received)
    }

    private func submit(_ request: Request, _ sink: TextSink?) async -> TransactionResult {
      let kept = Probe(probe)
      let checks = ResponseChecks(validate: { _ throws(TransactionError) in kept.touch() })
      return await withCheckedContinuation { continuation in
        engine.submit(request, sink: sink, checks: checks) { continuation.resume(returning: $0) }
      }
    }

    private func request() throws -> Request {
      guard isRequest else { return Request(url: try HTTPURL(server.baseURL + "/")) }
      return Request(method: "PUT", url: try HTTPURL(server.baseURL + "/"), body: try body())
    }

    private func body() throws -> Body {
      switch mode {
      case .inMemory: return .text(text)
      case .spilled:
        let path = try file.write(text, to: "body")
        return .file(FileBody(path: path, byteCount: text.utf8.count))
      case .streamed:
        let bytes = Array(text.utf8)
        return .stream(PieceStream.make([Array(bytes.prefix(16)), [], Array(bytes.dropFirst(16))]))
      }
    }

    private static func content(_ body: Body) throws -> String {
      guard case .file(let file) = body else { return String(decoding: body.bytes ?? [], as: UTF8.self) }
      return try FileTree.readText(file.path)
    }
  }
}
