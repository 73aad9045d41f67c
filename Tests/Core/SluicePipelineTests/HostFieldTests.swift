import SluiceMessages
import SluicePipeline
import SluiceTestPipeline
import Testing

/// Every request is sent with one valid `Host` field, whether the caller, a stage or the transport has set it.
struct HostFieldTests {
  @Test(arguments: [["a", "b"], ["a b"], [""]])
  func `a caller's request with an invalid Host is refused before any stage is called`(_ hosts: [String]) throws {
    var isCalled = false
    let stage = StubStage(.request) { _ in
      isCalled = true
      return .proceed
    }
    let (result, issued) = try run(Self.headers(hosts), request: stage)
    #expect(result.error?.code == "invalid_header" && result.error?.message.contains("header \"host\"") == true)
    #expect(issued.isEmpty && !isCalled)
  }

  @Test func `CONNECT is refused before any stage is called`() throws {
    var isCalled = false
    let stage = StubStage(.request) { _ in
      isCalled = true
      return .proceed
    }
    let (result, issued) = try run([:], method: "CONNECT", request: stage)
    #expect(result.error?.code == "invalid_method" && result.error?.message.contains("\"CONNECT\"") == true)
    #expect(result.attempts == 1 && issued.isEmpty && !isCalled)
  }

  @Test(arguments: [["a", "b"], ["a b"], [""]])
  func `an invalid Host that a request stage sets is not sent`(_ hosts: [String]) throws {
    let stage = StubStage(.request) { exchange in
      for host in hosts { exchange.requestForms.native.headers.append("host", host) }
      return .proceed
    }
    let (result, issued) = try run([:], request: stage)
    #expect(result.error?.code == "invalid_header" && result.error?.isBeforeSending == true)
    #expect(issued.isEmpty)
  }

  @Test func `a second Host that an issue stage adds is not sent`() throws {
    let (result, issued) = try run(["Host": "a"], issue: IssueStage { $0.append("host", "b") })
    #expect(result.error?.code == "invalid_header" && result.error?.message.contains("more than one") == true)
    #expect(issued.isEmpty)
  }

  @Test func `a second Host that the transport adds is not sent, even without stages`() throws {
    let (result, issued) = try run(["Host": "a"]) { HostAddingTransport($0) }
    #expect(result.error?.code == "invalid_header" && result.error?.message.contains("more than one") == true)
    #expect(issued.isEmpty)
  }

  @Test func `one valid Host of the caller or of a stage is sent`() throws {
    let stage = IssueStage { $0["host"] = "b.example:81" }
    #expect(try run(["Host": "a"]).issued.first?.headers[values: "host"] == ["a"])
    #expect(try run(["Host": "a"], issue: stage).issued.first?.headers[values: "host"] == ["b.example:81"])
    #expect(try run([:], issue: stage).issued.first?.headers[values: "host"] == ["b.example:81"])
  }

  private static func headers(_ hosts: [String]) -> HeaderFields {
    hosts.reduce(into: HeaderFields()) { $0.append("Host", $1) }
  }

  private func run(
    _ headers: HeaderFields, method: String = "GET", request stage: StubStage? = nil, issue: IssueStage? = nil,
    over wrap: (StubTransport) -> any Transport = { $0 }
  ) throws -> (result: TransactionResult, issued: [Request]) {
    let loop = StubLoop()
    let transport = StubTransport(loop: loop)
    let pipeline = Pipeline(
      requestStages: stage.map { [StageBinding(name: "stage", interceptor: $0)] } ?? [],
      issueStages: issue.map { [StageBinding(name: "stage", interceptor: $0)] } ?? [])
    let environment = LoopEnvironment(loop: loop, transport: wrap(transport))
    var result: TransactionResult?
    let request = Request(method: method, url: HTTPURL("http://h/"), headers: headers)
    loop.perform { Transaction.begin(request, on: environment, through: pipeline) { result = $0 } }
    return (try #require(result), transport.issued)
  }
}

/// The tests use this stage on one thread.
private final class IssueStage: Interceptor, @unchecked Sendable {
  let capabilities = StageCapabilities.issue
  private let change: (inout HeaderFields) -> Void

  init(_ change: @escaping (inout HeaderFields) -> Void) { self.change = change }

  func interceptIssue(_ exchange: Exchange) -> Verdict {
    guard var headers = exchange.issueHeaders else { return .proceed }
    change(&headers)
    exchange.issueHeaders = headers
    return .proceed
  }
}

/// A transport that adds another `Host` to each request.
private final class HostAddingTransport: Transport {
  private let base: StubTransport

  init(_ base: StubTransport) { self.base = base }

  func start(_ request: consuming Request, _ options: TransferOptions, observer: any TransferObserver) -> any Transfer {
    request.headers.append("Host", "b")
    return base.start(request, options, observer: observer)
  }

  func makeBodyGatherer(_ options: TransferOptions) -> any BodyGatherer { base.makeBodyGatherer(options) }

  func stream(of file: FileBody) throws(TransportError) -> BodyStream { try base.stream(of: file) }
}
