import Foundation
import FoundationNetworking
import SluiceAssembly
import SluiceClient
import SluiceCookies
import SluiceFoundation
import SluicePipeline
import SluicePlugin
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// A URLSession whose tasks go through a client. The tests run one at a time, because the protocol has one client for
/// the whole process.
@Suite(.serialized) struct URLProtocolTests {
  private static let mark = StageCode(issue: { request, _ in request.headers["x-mark"] = "sluice" })

  /// Runs the body with a session whose requests get a header from a stage.
  private func withSession(
    delegate: (any URLSessionDelegate)? = nil, _ body: (URLSession) async throws -> Void
  ) async throws {
    try await withClient {
      $0.addStage("mark", Self.mark)
      // Without time limits, only a cancellation ends a request.
      $0.deadline = nil
      $0.transport.timeout = .seconds(3600)
      $0.addCookies(CookieJar())
    } _: { client in
      SluiceURLProtocol.client = client
      defer { SluiceURLProtocol.client = nil }
      let configuration = URLSessionConfiguration.ephemeral
      configuration.protocolClasses = [SluiceURLProtocol.self]
      let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
      defer { session.invalidateAndCancel() }
      try await body(session)
    }
  }

  private struct Answer: Sendable {
    let data: Data?
    let response: HTTPURLResponse?
    let error: URLError?
  }

  /// Runs a task with a completion handler.
  private func run(
    _ make: (@escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void) -> URLSessionTask
  ) async throws -> Answer {
    let answer = Watched<Answer?>(nil)
    let task = make { data, response, error in
      answer.update { $0 = Answer(data: data, response: response as? HTTPURLResponse, error: error as? URLError) }
    }
    task.resume()
    try await answer.wait(for: "the completion handler") { $0 != nil }
    return try #require(answer.value)
  }

  @Test func `a task goes through the pipeline, and gets the whole body`() async throws {
    let server = try LoopbackServer { _ in
      ServerResponse(headers: [HeaderLine("X-A", "1")], body: .generated(pattern, byteCount: 500_000, chunked: true))
    }
    defer { server.stop() }
    try await withSession { session in
      let address = try url(server.baseURL)
      let answer = try await run { session.dataTask(with: address, completionHandler: $0) }
      #expect(answer.data == Data(pattern.bytes(from: 0, count: 500_000)))
      #expect(answer.response?.statusCode == 200 && answer.response?.value(forHTTPHeaderField: "x-a") == "1")
      let (data, response) = try await session.data(from: address)
      #expect(data.count == 500_000 && (response as? HTTPURLResponse)?.statusCode == 200)
    }
    #expect(server.requests.map { $0.value(of: "x-mark") } == ["sluice", "sluice"])
  }

  @Test func `method, header fields and body of a task are sent, including upload tasks`() async throws {
    let folder = try TemporaryDirectory()
    let file = URL(fileURLWithPath: try folder.write("from file", to: "file"))
    let server = try LoopbackServer { request in .text("\(request.body.count)") }
    defer { server.stop() }
    try await withSession { session in
      var request = URLRequest(url: try url(server.baseURL))
      request.httpMethod = "POST"
      request.setValue("1", forHTTPHeaderField: "X-A")
      var full = request
      full.httpBody = Data("body".utf8)
      var streamed = request
      streamed.httpBodyStream = InputStream(data: Data("stream".utf8))
      let (with, without, stream) = (full, request, streamed)
      let answers = [
        try await run { session.dataTask(with: with, completionHandler: $0) },
        try await run { session.dataTask(with: stream, completionHandler: $0) },
        try await run { session.uploadTask(with: without, from: Data("upload".utf8), completionHandler: $0) },
        try await run { session.uploadTask(with: without, fromFile: file, completionHandler: $0) },
      ]
      #expect(answers.map { $0.data.map { String(decoding: $0, as: UTF8.self) } } == ["4", "6", "6", "9"])
    }
    #expect(
      server.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["body", "stream", "upload", "from file"])
    #expect(server.requests.allSatisfy { $0.method == "POST" && $0.value(of: "x-a") == "1" })
    #expect(server.requests.allSatisfy { $0.value(of: "x-mark") == "sluice" })
  }

  @Test func `the client follows redirects and sends its cookies`() async throws {
    let server = try LoopbackServer { request in
      request.target == "/end"
        ? .text("ok")
        : ServerResponse(
          status: 302, headers: [HeaderLine("Location", "/end"), HeaderLine("Set-Cookie", "a=1; path=/")])
    }
    defer { server.stop() }
    try await withSession { session in
      let start = try url(server.baseURL + "/start")
      let answer = try await run { session.dataTask(with: start, completionHandler: $0) }
      #expect(answer.response?.statusCode == 200 && answer.response?.url?.path == "/end")
    }
    #expect(server.requests.map { $0.value(of: "cookie") } == [nil, "a=1"])
  }

  @Test func `a delegate gets the response, the body and the end`() async throws {
    let delegate = Recorder()
    let server = try LoopbackServer { _ in .text("hello") }
    defer { server.stop() }
    try await withSession(delegate: delegate) { session in
      session.dataTask(with: try url(server.baseURL)).resume()
      try await delegate.events.wait(for: "the end") { $0.last?.hasPrefix("end") == true }
    }
    #expect(delegate.events.value == ["response 200", "data hello", "end nil"])
  }

  @Test func `a 401 is a response, and no delegate can answer it with a request that bypasses the client`()
    async throws
  {
    let delegate = Recorder()
    let server = try LoopbackServer { _ in
      ServerResponse(
        status: 401, headers: [HeaderLine("WWW-Authenticate", "Basic realm=\"x\"")], body: .bytes(Array("no".utf8)))
    }
    defer { server.stop() }
    try await withSession(delegate: delegate) { session in
      session.dataTask(with: try url(server.baseURL)).resume()
      try await delegate.events.wait(for: "the end") { $0.last?.hasPrefix("end") == true }
    }
    #expect(delegate.events.value == ["response 401", "data no", "end nil"] && server.requestCount == 1)
  }

  @Test func `errors have the domain and codes of URLSession`() async throws {
    try await withSession { session in
      let nowhere = try url("http://127.0.0.1:1/")
      let answer = try await run { session.dataTask(with: nowhere, completionHandler: $0) }
      #expect(answer.error?.code == .cannotConnectToHost && answer.error?.engineCode == "connect")
      let strange = try url("http://127.1/")
      #expect(try await run { session.dataTask(with: strange, completionHandler: $0) }.error?.code == .badURL)
    }
  }

  @Test func `a download task fails, and the error says what to use instead`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    try await withSession { session in
      let address = try url(server.baseURL)
      let answer = try await run { handler in
        session.downloadTask(with: address) { _, response, error in handler(nil, response, error) }
      }
      #expect(answer.error?.localizedDescription.contains("Client.download") == true)
    }
    #expect(server.requestCount == 0)
  }

  @Test func `a cancelled task ends its request`() async throws {
    let server = try ScriptedServer(.receiveHead, .receiveToEnd)
    defer { server.stop() }
    try await withSession { session in
      let request = URLRequest(url: try url(server.baseURL), timeoutInterval: 0)
      let answer = Watched<URLError.Code?>(nil)
      let task = session.dataTask(with: request) { _, _, error in answer.update { $0 = (error as? URLError)?.code } }
      task.resume()
      try await server.waitForConnections(1)
      task.cancel()
      try await answer.wait(for: "the completion handler") { $0 != nil }
      #expect(answer.value == .cancelled)
      try await server.waitForScripts()
    }
  }

  @Test func `a task that is suspended gets its response when it is resumed`() async throws {
    let server = try LoopbackServer { _ in .text("late") }
    defer { server.stop() }
    server.hold()
    try await withSession { session in
      let address = try url(server.baseURL)
      let answer = Watched<Data?>(nil)
      let task = session.dataTask(with: address) { data, _, _ in answer.update { $0 = data } }
      task.resume()
      try await server.waitForHeld(1)
      task.suspend()
      server.release()
      task.resume()
      try await answer.wait(for: "the completion handler") { $0 != nil }
      #expect(answer.value == Data("late".utf8) && server.requestCount == 1)
    }
  }

  @Test func `many simultaneous tasks, some of them cancelled, all end`() async throws {
    let server = try LoopbackServer { request in .text(request.target) }
    defer { server.stop() }
    try await withSession { session in
      let ended = Watched<[Int: String]>([:])
      for number in 0..<200 {
        let address = try url(server.baseURL + "/\(number)")
        let task = session.dataTask(with: address) { data, _, error in
          let text = error == nil ? String(decoding: data ?? Data(), as: UTF8.self) : "error"
          ended.update { $0[number] = text }
        }
        task.resume()
        if number % 4 == 3 { task.cancel() }
      }
      try await ended.wait(for: "all tasks") { $0.count == 200 }
      for (number, text) in ended.value {
        #expect(text == "/\(number)" || number % 4 == 3 && text == "error")
      }
    }
  }
}

/// A session delegate that records its calls, and answers every challenge with credentials.
private final class Recorder: NSObject, URLSessionDataDelegate {
  let events = Watched<[String]>([])

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
  ) {
    events.update { $0.append("response \((response as? HTTPURLResponse)?.statusCode ?? 0)") }
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    events.update { $0.append("data \(String(decoding: data, as: UTF8.self))") }
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    events.update { $0.append("end \(error.map { "\($0)" } ?? "nil")") }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    events.update { $0.append("challenge") }
    completionHandler(.useCredential, URLCredential(user: "u", password: "p", persistence: .none))
  }
}
