import Foundation
import FoundationNetworking
import SluiceClient
import Sluice
import SluiceMessages
import SluicePipeline

/// A Foundation request in progress, sent through a client.
struct FoundationCall: Sendable {
  private let client: Client
  private let url: URL
  private var request: Request
  private let observer: CallObserver
  private let delegate: (any TransactionDelegate)?
  private let cancellation = Cancellation()
  /// The cancellation that the client gets. It also ends the call if the task that writes the request body fails.
  private let whole: Cancellation

  /// - Parameter body: replaces the body of the request.
  init(
    _ client: Client, _ urlRequest: URLRequest, body: Body? = nil, stream: InputStream? = nil,
    delegate: (any TransactionDelegate)? = nil
  ) throws(URLError) {
    guard let url = urlRequest.url else { throw URLError(.badURL) }
    self.client = client
    self.url = url
    request = try Request(urlRequest)
    var upload: ProducedBody?
    if let body {
      request.body = body
    } else if let stream = stream ?? (request.body.isEmpty ? urlRequest.httpBodyStream : nil) {
      let byteCount = request.headers["content-length"].flatMap { Int($0) }
      let reader = ProducedBody(InputStreamPieces(stream), byteCount: byteCount)
      request.body = .stream(reader.stream)
      upload = reader
    }
    observer = CallObserver(request.url, upload)
    self.delegate = DelegateChain.of(delegate, observer)
    whole = upload?.cancellation(cancellation) ?? cancellation
  }

  /// Cancels the call, from any thread.
  func cancel() { cancellation.cancel() }

  /// Returns the response when its head has arrived.
  func open() async throws(URLError) -> (bytes: ResponseBytes, response: HTTPURLResponse) {
    let (bytes, response) = try await begin()
    return (bytes, try made(response))
  }

  /// Returns the response with its whole body.
  func collect() async throws(URLError) -> (data: Data, response: HTTPURLResponse) {
    let (bytes, response) = try await begin()
    let limit = client.engine.maximumHeldResponseBytes
    var data = Data()
    do throws(TransactionError) {
      for try await chunk in bytes.chunks {
        guard chunk.count <= limit - data.count else { throw Self.tooLarge(limit) }
        data.append(contentsOf: chunk)
      }
    } catch { throw URLError(error) }
    return (data, try made(response))
  }

  private func begin() async throws(URLError) -> (ResponseBytes, Response) {
    do throws(TransactionError) {
      return try await client.bytes(for: request, delegate: delegate, cancellation: whole)
    } catch { throw URLError(error) }
  }

  /// Downloads the body of the response to a file.
  func download() async throws(URLError) -> (file: URL, response: HTTPURLResponse) {
    let result: (path: String, response: Response)
    do throws(DownloadFailure) {
      result = try await client.download(for: request, delegate: delegate, cancellation: whole)
    } catch { throw URLError(error) }
    return (URL(fileURLWithPath: result.path), try made(result.response))
  }

  private func made(_ response: Response) throws(URLError) -> HTTPURLResponse {
    let last = observer.last(response).flatMap { $0 == request.url ? nil : URL(string: $0.string) }
    return try .of(response, last ?? url)
  }

  private static func tooLarge(_ limit: Int) -> TransactionError {
    TransactionError(
      code: .responseTooLarge,
      message: "the response body has more than \(limit) bytes; read it with bytes(for:), or raise"
        + " transport.maxResponseBytes")
  }
}
