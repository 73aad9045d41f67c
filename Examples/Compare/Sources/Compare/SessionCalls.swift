import Foundation
import FoundationNetworking

/// The calls with URLSession.
enum SessionCalls {
  private static func url(_ text: String) throws -> URL {
    guard let url = URL(string: text) else { throw Wrong(description: "\(text) is not a URL") }
    return url
  }

  private static func text(_ data: Data) -> String { String(decoding: data, as: UTF8.self) }

  private static func status(_ response: URLResponse) -> Int { (response as? HTTPURLResponse)?.statusCode ?? 0 }

  static func get(_ site: Site) async throws {
    let (data, response) = try await URLSession.shared.data(from: url(site.base + "/hello"))
    try check(text(data) == "hello" && status(response) == 200, text(data))
  }

  static func missing(_ site: Site) async throws {
    let (data, response) = try await URLSession.shared.data(from: url(site.base + "/missing"))
    try check(text(data) == "missing" && status(response) == 404, "\(status(response))")
  }

  static func upload(_ site: Site) async throws {
    var request = URLRequest(url: try url(site.base + "/echo"))
    request.httpMethod = "POST"
    let (data, _) = try await URLSession.shared.upload(for: request, from: Data("body".utf8))
    try check(text(data) == "body", text(data))
  }

  static func repeated(_ site: Site) async throws {
    let (_, response) = try await URLSession.shared.data(from: url(site.base + "/repeated"))
    let value = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "x-a")
    try check(["1, 2", "1,2"].contains(value), value ?? "none")
  }

  static func download(_ site: Site) async throws {
    let (file, _) = try await URLSession.shared.download(from: url(site.base + "/hello"))
    try check(try Data(contentsOf: file) == Data("hello".utf8), "another content")
  }

  static func redirect(_ site: Site) async throws {
    let (data, _) = try await URLSession.shared.data(from: url(site.base + "/redirect"))
    try check(text(data) == "hello", text(data))
  }

  static func relative(_ site: Site) async throws {
    let (data, _) = try await URLSession.shared.data(from: url(site.base + "/relative"))
    try check(text(data) == "hello", text(data))
  }

  static func refuse(_ site: Site) async throws {
    let (_, response) = try await URLSession.shared.data(from: url(site.base + "/redirect"), delegate: Decisions())
    try check(status(response) == 302, "\(status(response))")
  }

  static func answer(_ site: Site) async throws {
    let (data, response) = try await URLSession.shared.data(from: url(site.base + "/denied"), delegate: Decisions())
    try check(text(data) == "welcome", "\(status(response))")
  }

  static func denied(_ site: Site) async throws {
    let (_, response) = try await URLSession.shared.data(from: url(site.base + "/denied"))
    try check(status(response) == 401, "\(status(response))")
  }

  static func metrics(_ site: Site) async throws {
    let delegate = Decisions()
    let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
    _ = try await session.data(from: url(site.base + "/hello"))
    for await _ in delegate.metrics { return }
  }

  static func secrets(_ site: Site) async throws {
    var request = URLRequest(url: try url(site.base + "/leave"))
    request.setValue("Bearer secret", forHTTPHeaderField: "Authorization")
    request.setValue("secret=1", forHTTPHeaderField: "Cookie")
    let (data, _) = try await URLSession.shared.data(for: request)
    try check(data.isEmpty, text(data).replacingOccurrences(of: "\n", with: ", "))
  }

  static func cookies(_ site: Site) async throws {
    let session = URLSession(configuration: .ephemeral)
    let (data, _) = try await session.data(from: url(site.base + "/set"))
    try check(text(data) == "cookie: sid=1", text(data).isEmpty ? "no cookie" : text(data))
  }

  static func cancels(_ site: Site) async throws {
    let url = try url(site.base + "/hello")
    await withTaskGroup { group in
      for number in 0..<1000 {
        group.addTask {
          let task = Task { _ = try await URLSession.shared.data(from: url) }
          for _ in 0..<(number % 50) { await Task.yield() }
          task.cancel()
          _ = await task.result
        }
      }
    }
    _ = try await URLSession.shared.data(from: url)
  }

  static func cancelled(_ site: Site) async throws {
    let url = try url(site.base + "/hello")
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      _ = try await URLSession.shared.data(from: url)
    }
    let error = await failure { try await task.value }
    let isCancelled = error is CancellationError || (error as? URLError)?.code == .cancelled
    try check(isCancelled, "\(String(describing: error))")
  }

  static func short(_ site: Site) async throws {
    let url = try url(site.cut + "/short")
    let error = await failure { _ = try await URLSession.shared.data(from: url) }
    try check(error is URLError, "a body that is too short")
  }

  static func silent(_ site: Site) async throws {
    let request = URLRequest(url: try url(site.cut + "/silent"), timeoutInterval: 1)
    let error = await failure { _ = try await URLSession.shared.data(for: request) }
    try check((error as? URLError)?.code == .timedOut, "\(String(describing: error))")
  }
}

/// Treats redirects as responses, answers challenges, and passes metrics on.
private final class Decisions: NSObject, URLSessionTaskDelegate {
  let metrics: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  override init() { (metrics, continuation) = AsyncStream.makeStream() }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) { completionHandler(nil) }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) { completionHandler(.useCredential, URLCredential(user: "u", password: "p", persistence: .none)) }

  func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
    continuation.yield()
  }
}
