import Foundation
public import FoundationNetworking
import SluiceAssembly
public import SluiceClient
import SluiceMessages
import SluiceSupport

/// Sends the requests of data and upload tasks of a `URLSession` through a client:
///
///     configuration.protocolClasses = [SluiceURLProtocol.self]
///
/// The client follows redirects, and the URL of the response is that of the last hop. Cookies are kept in the client's
/// jar. If the session adds cookies from its `HTTPCookieStorage`, these cookies are sent instead. The session gets the
/// whole body at once, because a session of swift-corelibs-foundation gives only the last piece to a completion
/// handler. The body can have at most `transport.maxResponseBytes`. A download task fails, because a session of
/// swift-corelibs-foundation accepts no file from a protocol. Use ``SluiceClient/Client`` for downloads.
///
/// A session's delegate is not asked about redirects and challenges. A response with the status 401 loses its
/// `WWW-Authenticate`. Otherwise the session itself would send the request again, without the client. Credentials must
/// therefore be in the header field `Authorization`, or come from a delegate of the client.
public final class SluiceURLProtocol: URLProtocol {
  private static let chosen = Locked<Client?>(nil)

  private let load = ProtocolLoad()

  /// The client for all tasks that begin after this is set. It is retained. Nil, the default, means `Client.shared`.
  public static var client: Client? {
    get { chosen.withLock { $0 } }
    set { chosen.withLock { $0 = newValue } }
  }

  /// Whether the URL has the scheme `http` or `https`.
  override public class func canInit(with request: URLRequest) -> Bool {
    ["http", "https"].contains(request.url?.scheme?.lowercased())
  }

  /// Returns the request unchanged.
  override public class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

  /// Sends the request, or delivers its response. Called by the session, on its queue.
  override public func startLoading() {
    switch load.next() {
    case .nothing: return
    case .deliver(let outcome): deliver(outcome)
    case .start:
      guard let task else { return fail(Self.error("the protocol was made without a task")) }
      guard !(task is URLSessionDownloadTask) else {
        return fail(Self.error("a session accepts no file from a protocol; use Client.download(for:)"))
      }
      do throws(URLError) { try start(task) } catch { fail(error) }
    }
  }

  /// Ends the request if its task was cancelled. The session calls this on its queue. It also calls this when a task is
  /// suspended; the request then continues.
  override public func stopLoading() {
    if task?.state == .canceling || task == nil { load.cancel() }
  }

  private func start(_ task: URLSessionTask) throws(URLError) {
    let make = try Self.call(try Self.clientNow(), request, task)
    load.start(task) {
      do throws(URLError) {
        let call = try await make()
        return .success(try await call.collect())
      } catch { return .failure(error) }
    }
  }

  private static func clientNow() throws(URLError) -> Client {
    if let client { return client }
    do throws(EngineError) { return try Client.shared } catch {
      throw self.error("no engine could be started: \(error)")
    }
  }

  /// Returns a function that sends the request. The function must not run on the session's queue, because it examines
  /// the file of an upload.
  private static func call(
    _ client: Client, _ request: URLRequest, _ task: URLSessionTask
  ) throws(URLError) -> @Sendable () async throws(URLError) -> FoundationCall {
    guard let upload = task as? URLSessionUploadTask else {
      let call = try FoundationCall(client, request)
      return { () throws(URLError) in call }
    }
    switch TaskBody(of: upload) {
    case .data(let bytes):
      let call = try FoundationCall(client, request, body: bytes.isEmpty ? .empty : .bytes(bytes))
      return { () throws(URLError) in call }
    case .file(let file):
      return { () throws(URLError) in try await FoundationCall(client, request, body: Body.file(at: file)) }
    case .stream(let stream):
      let call = try FoundationCall(client, request, stream: stream)
      return { () throws(URLError) in call }
    case .absent: throw error("the body of the upload comes from a delegate, which a protocol cannot ask")
    case nil: throw error("the body of the upload was not found in this release of Foundation")
    }
  }

  private func deliver(_ outcome: ProtocolLoad.Outcome) {
    switch outcome {
    case .failure(let error): fail(error)
    case .success(let (data, response)):
      client?.urlProtocol(self, didReceive: Self.unchallenged(response), cacheStoragePolicy: .notAllowed)
      if !data.isEmpty { client?.urlProtocol(self, didLoad: data) }
      client?.urlProtocolDidFinishLoading(self)
    }
  }

  private func fail(_ error: URLError) { client?.urlProtocol(self, didFailWithError: error) }

  /// Removes `WWW-Authenticate` from a response with the status 401, so that the session does not answer the challenge
  /// itself.
  private static func unchallenged(_ response: HTTPURLResponse) -> HTTPURLResponse {
    guard response.statusCode == 401, let url = response.url else { return response }
    let fields = response.allHeaderFields.compactMap { field -> (String, String)? in
      guard let name = field.key as? String, let value = field.value as? String,
        name.lowercased() != "www-authenticate"
      else { return nil }
      return (name, value)
    }
    let copy = HTTPURLResponse(
      url: url, statusCode: 401, httpVersion: "HTTP/1.1", headerFields: Dictionary(fields) { first, _ in first })
    return copy ?? response
  }

  private static func error(_ reason: String) -> URLError {
    URLError(.unknown, userInfo: [NSLocalizedDescriptionKey: "SluiceURLProtocol: \(reason)"])
  }
}
