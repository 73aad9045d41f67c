import Foundation
import SluiceClient
import SluiceCookies
import Sluice
import SluicePlugin

/// The calls with a Sluice client.
enum SluiceCalls {
  private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  static func get(_ site: Site) async throws {
    let (bytes, response) = try await Client().data(from: HTTPURL(site.base + "/hello"))
    try check(text(bytes) == "hello" && response.status == 200, text(bytes))
  }

  static func missing(_ site: Site) async throws {
    let (bytes, response) = try await Client().data(from: HTTPURL(site.base + "/missing"))
    try check(text(bytes) == "missing" && response.status == 404, "\(response.status)")
  }

  static func upload(_ site: Site) async throws {
    let request = Request(method: "POST", url: try HTTPURL(site.base + "/echo"))
    let (bytes, _) = try await Client().upload(for: request, from: Array("body".utf8))
    try check(text(bytes) == "body", text(bytes))
  }

  static func uploadSequence(_ site: Site) async throws {
    let request = Request(method: "POST", url: try HTTPURL(site.base + "/echo"))
    let pieces = AsyncStream<[UInt8]> { continuation in
      for number in 0..<3 { continuation.yield(Array("\(number)".utf8)) }
      continuation.finish()
    }
    let (bytes, _) = try await Client().upload(for: request, from: pieces)
    try check(text(bytes) == "012", text(bytes))
  }

  static func repeated(_ site: Site) async throws {
    let (_, response) = try await Client().data(from: HTTPURL(site.base + "/repeated"))
    try check(response.headers[values: "x-a"] == ["1", "2"], "\(response.headers)")
  }

  static func stream(_ site: Site) async throws {
    var lines: [String] = []
    let (bytes, _) = try await Client().bytes(from: HTTPURL(site.base + "/hello"))
    for try await line in bytes.lines { lines.append(line) }
    try check(lines == ["hello"], "\(lines)")
  }

  static func download(_ site: Site) async throws {
    let (path, _) = try await Client().download(from: HTTPURL(site.base + "/hello"))
    defer { unlink(path) }
    try check(FileManager.default.contents(atPath: path) == Data("hello".utf8), "another content")
  }

  static func resume(_ site: Site) async throws {
    let client = try Client()
    let path = FileManager.default.temporaryDirectory.path + "/compare-\(getpid())"
    defer { unlink(path) }
    let url = try HTTPURL(site.cut + "/file")
    let error = await failure { _ = try await client.download(from: url, to: path) }
    guard let data = (error as? DownloadFailure)?.resumeData else { throw Wrong(description: "no resume data") }
    _ = try await client.download(resumeFrom: data)
    try check(FileManager.default.contents(atPath: path) == Data("helloworld".utf8), "another content")
  }

  static func redirect(_ site: Site) async throws {
    let (bytes, _) = try await Client().data(from: HTTPURL(site.base + "/redirect"))
    try check(text(bytes) == "hello", text(bytes))
  }

  static func relative(_ site: Site) async throws {
    let (bytes, _) = try await Client().data(from: HTTPURL(site.base + "/relative"))
    try check(text(bytes) == "hello", text(bytes))
  }

  static func refuse(_ site: Site) async throws {
    let (_, response) = try await Client().data(from: HTTPURL(site.base + "/redirect"), delegate: Decisions())
    try check(response.status == 302, "\(response.status)")
  }

  static func answer(_ site: Site) async throws {
    let (bytes, _) = try await Client().data(from: HTTPURL(site.base + "/denied"), delegate: Decisions())
    try check(text(bytes) == "welcome", text(bytes))
  }

  static func denied(_ site: Site) async throws {
    let (_, response) = try await Client().data(from: HTTPURL(site.base + "/denied"))
    try check(response.status == 401, "\(response.status)")
  }

  static func metrics(_ site: Site) async throws {
    let (durations, continuation) = AsyncStream.makeStream(of: Duration?.self)
    let delegate = Decisions { continuation.yield($0.timings == nil ? nil : $0.duration) }
    _ = try await Client().data(from: HTTPURL(site.base + "/hello"), delegate: delegate)
    for await duration in durations { return try check(duration != nil, "no timings") }
  }

  static func secrets(_ site: Site) async throws {
    let headers: HeaderFields = ["Authorization": "Bearer secret", "Cookie": "secret=1"]
    let request = Request(url: try HTTPURL(site.base + "/leave"), headers: headers)
    let (bytes, _) = try await Client().data(for: request)
    try check(bytes.isEmpty, text(bytes))
  }

  static func cookies(_ site: Site) async throws {
    let (bytes, _) = try await Client(cookies: CookieJar()).data(from: HTTPURL(site.base + "/set"))
    try check(text(bytes) == "cookie: sid=1", text(bytes))
  }

  static func cancels(_ site: Site) async throws {
    let client = try Client()
    let url = try HTTPURL(site.base + "/hello")
    await withTaskGroup { group in
      for number in 0..<1000 {
        group.addTask {
          let task = Task { _ = try await client.data(from: url) }
          for _ in 0..<(number % 50) { await Task.yield() }
          task.cancel()
          _ = await task.result
        }
      }
    }
    _ = try await client.data(from: url)
  }

  static func cancelled(_ site: Site) async throws {
    let client = try Client()
    let url = try HTTPURL(site.base + "/hello")
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      _ = try await client.data(from: url)
    }
    let error = await failure { try await task.value }
    try check((error as? TransactionError)?.code == .cancelled, "\(String(describing: error))")
  }

  static func short(_ site: Site) async throws {
    let client = try Client()
    let url = try HTTPURL(site.cut + "/short")
    let error = await failure { _ = try await client.data(from: url) }
    try check((error as? TransactionError)?.code == .connectionLost, "\(String(describing: error))")
  }

  static func silent(_ site: Site) async throws {
    let client = try Client()
    let request = Request(url: try HTTPURL(site.cut + "/silent"), timeout: .seconds(1))
    let error = await failure { _ = try await client.data(for: request) }
    try check((error as? TransactionError)?.code == .deadline, "\(String(describing: error))")
  }
}

/// Treats redirects as responses, answers challenges, and passes results on.
private struct Decisions: TransactionDelegate {
  var didComplete: @Sendable (TransactionResult) -> Void = { _ in }

  func transaction(_ context: ResponseContext, willFollow redirect: Redirect) async throws -> RedirectDecision {
    .takeResponse
  }

  func transaction(_ context: ResponseContext, didReceive offer: ChallengeOffer) async throws -> ChallengeDecision {
    .credentials(user: "u", password: "p")
  }

  func transactionDidComplete(_ result: TransactionResult) { didComplete(result) }
}

/// The error that the body throws; nil if it throws none.
func failure(_ body: () async throws -> Void) async -> (any Error)? {
  do { try await body() } catch { return error }
  return nil
}
