import SluiceMessages
import SluicePipeline
import SluiceTestPipeline
import Testing

/// Bodies that are collected in a file on a slow disk.
@Suite struct SlowGathererTests {
  private final class Fixture {
    let loop = StubLoop()
    let files: SlowFiles
    let environment: LoopEnvironment
    let stage = UppercasingStage()
    private let pipeline: Pipeline
    private(set) var result: TransactionResult?

    init(_ pieces: [String], on files: SlowFiles = SlowFiles(), hasStage: Bool = true) {
      self.files = files
      let reply = StubTransport.Reply.response(Response(status: 200), pieces: pieces.map { Array($0.utf8) })
      let transport = StubTransport(loop: loop, files: files, readsBodies: true) { _ in reply }
      environment = LoopEnvironment(loop: loop, transport: transport)
      pipeline = Pipeline(
        responseStages: hasStage ? [StageBinding(name: "stage", interceptor: stage)] : [],
        settings: PipelineSettings(deadline: nil, attemptTimeout: .seconds(1), maximumAttempts: 1))
    }

    func begin(_ body: Body = .empty, isRecorded: Bool = false, sink: (any BodySink)? = nil) throws {
      var request = Request(method: "PUT", url: HTTPURL("http://example.com/a"), body: body)
      request.wantsRecording = isRecorded
      loop.perform {
        _ = Transaction.begin(request, on: environment, through: pipeline, sink: sink) { self.result = $0 }
      }
    }

    /// Tells a gatherer that its disk has written everything so far.
    func ready(_ index: Int = 0) {
      loop.perform {
        files.gatherers[index].isBehind = false
        files.gatherers[index].whenReady?()
      }
    }

    func text(_ body: Body?) -> String? { body?.bytes.map { String(decoding: $0, as: UTF8.self) } }
  }

  @Test func `each piece is read after the disk has written the previous piece, and the end is read last`() throws {
    let fixture = Fixture(["a", "b"])
    try fixture.begin()
    #expect(fixture.stage.pieces == ["a"])
    fixture.ready()
    #expect(fixture.stage.pieces == ["a", "b"])
    fixture.ready()
    #expect(fixture.stage.endCount == 1)
    #expect(fixture.result == nil)
    fixture.ready()
    #expect(fixture.result?.error == nil)
    #expect(fixture.text(fixture.result?.response?.body) == "AB")
  }

  @Test(arguments: [1, 2, 3])
  func `the transaction fails if the disk reports a write error for a piece or at the end`(failing: Int) throws {
    let fixture = Fixture(["a", "b"], on: SlowFiles(failingAt: failing))
    try fixture.begin()
    for _ in 1..<failing { fixture.ready() }
    #expect(fixture.result?.error?.code == "body_file")
  }

  @Test func `the result of a recorded transaction waits until the disk has the response`() throws {
    let fixture = Fixture(["a", "b"])
    let sink = NotingSink()
    try fixture.begin(isRecorded: true, sink: sink)
    // The first gatherer is for the recording.
    #expect(sink.text == "A")
    fixture.ready()
    #expect(sink.text == "AB")
    fixture.ready()
    #expect(fixture.result == nil)
    fixture.ready()
    #expect(fixture.result?.error == nil)
    let hop = fixture.result?.recording?.hops.first
    #expect(fixture.text(hop?.response?.body) == "ab" && hop?.isBodyWhole == true)
  }

  @Test func `if the disk of a recording fails, its body is marked as incomplete, and the transaction continues`()
    throws
  {
    let fixture = Fixture(["a", "b"], on: SlowFiles(failingAt: 2))
    let sink = NotingSink()
    try fixture.begin(isRecorded: true, sink: sink)
    fixture.ready()
    #expect(sink.text == "AB")
    #expect(fixture.result?.error == nil)
    #expect(fixture.result?.recording?.hops.first?.isBodyWhole == false)
  }

  @Test func `a streamed request that is recorded waits for the disk after each piece`() throws {
    let fixture = Fixture([], hasStage: false)
    try fixture.begin(.stream(PieceStream.make([Array("a".utf8), Array("b".utf8)])), isRecorded: true)
    for _ in 0..<3 {
      #expect(fixture.result == nil)
      fixture.ready()
    }
    #expect(fixture.result?.error == nil)
    let exchange = fixture.result?.recording
    #expect(fixture.text(exchange?.request.body) == "ab" && exchange?.isRequestWhole == true)
  }

  @Test func `a transaction that is cancelled while it waits for the disk ends`() throws {
    let fixture = Fixture(["a", "b"])
    try fixture.begin()
    fixture.loop.perform {
      fixture.environment.abortAll(TransactionError(code: .shutdown, message: "the end"))
    }
    #expect(fixture.result?.error?.code == "shutdown")
    // The transaction has ended, so this has no effect.
    fixture.ready()
  }
}

/// A transport whose gatherers wait for their disk after each piece, and at the end.
private final class SlowFiles: Transport {
  private let failingAt: Int
  private(set) var gatherers: [SlowGatherer] = []

  /// - Parameter failingAt: which call of a gatherer fails, counted from 1.
  init(failingAt: Int = .max) { self.failingAt = failingAt }

  func makeBodyGatherer(_ options: TransferOptions) -> any BodyGatherer {
    let gatherer = SlowGatherer(failingAt: failingAt)
    gatherers.append(gatherer)
    return gatherer
  }

  func start(_ request: consuming Request, _ options: TransferOptions, observer: any TransferObserver) -> any Transfer {
    fatalError("there is no wire here")
  }

  func stream(of file: FileBody) throws(TransportError) -> BodyStream {
    throw TransportError(.bodyFile, "no files here")
  }
}

private final class SlowGatherer: BodyGatherer {
  var whenReady: (() -> Void)?
  var isBehind = false
  private let failingAt: Int
  private var callCount = 0
  private var isEnding = false
  private var bytes: [UInt8] = []

  init(failingAt: Int) { self.failingAt = failingAt }

  func append(_ piece: [UInt8]) throws(TransportError) -> BodyProgress {
    try count()
    bytes += piece
    isBehind = true
    return .pause
  }

  func finish() throws(TransportError) -> Body? {
    if !isEnding {
      try count()
      isEnding = true
      isBehind = true
    }
    return isBehind ? nil : .bytes(bytes)
  }

  private func count() throws(TransportError) {
    callCount += 1
    if callCount == failingAt { throw TransportError(.bodyFile, "the disk is full") }
  }
}

private final class NotingSink: BodySink, @unchecked Sendable {
  // Sendable: confined to the loop of the test.
  private(set) var text = ""
  func begin(_ head: Response) {}
  func receive(_ piece: [UInt8]) -> BodyProgress {
    text += String(decoding: piece, as: UTF8.self)
    return .proceed
  }
}

private final class UppercasingStage: Interceptor, @unchecked Sendable {
  // Sendable: confined to the loop of the test.
  let capabilities: StageCapabilities = .responsePieces
  private(set) var pieces: [String] = []
  private(set) var endCount = 0

  func interceptPiece(
    _ exchange: Exchange, _ side: MessageSide, _ piece: [UInt8], _ output: inout [UInt8]
  ) -> PieceVerdict {
    let text = String(decoding: piece, as: UTF8.self)
    pieces.append(text)
    output = Array(text.uppercased().utf8)
    return .taken
  }

  func interceptBodyEnd(_ exchange: Exchange, _ side: MessageSide, _ output: inout [UInt8]) -> PieceVerdict {
    endCount += 1
    return .pass
  }
}
