public import Foundation
public import FoundationNetworking
public import SluiceClient
import Sluice
import SluiceMessages
import SluicePipeline

// The calls of URLSession, with the types of Foundation. Each throws a `URLError`, whose `NSUnderlyingErrorKey` is the
// engine's error.
//
// As in URLSession, `timeoutInterval` is the longest time in which nothing is sent or received. The deadline of the
// configuration also applies.
extension Client {
  /// Gets a URL, and collects the body in memory. The body can have at most `transport.maxResponseBytes`.
  public func data(
    from url: URL, delegate: (any TransactionDelegate)? = nil
  ) async throws(URLError) -> (Data, HTTPURLResponse) {
    try await data(for: URLRequest(url: url), delegate: delegate)
  }

  /// Sends a request, and collects the body in memory. The body can have at most `transport.maxResponseBytes`.
  ///
  /// Only these parts of the request are used: method, URL, header fields, `httpBody` or `httpBodyStream`, and
  /// `timeoutInterval`.
  /// - Parameter delegate: asked before the delegates of the client and the engine.
  public func data(
    for request: URLRequest, delegate: (any TransactionDelegate)? = nil
  ) async throws(URLError) -> (Data, HTTPURLResponse) {
    try await FoundationCall(self, request, delegate: delegate).collect()
  }

  /// Sends a request with these bytes as its body.
  public func upload(
    for request: URLRequest, from data: Data, delegate: (any TransactionDelegate)? = nil
  ) async throws(URLError) -> (Data, HTTPURLResponse) {
    let body = data.isEmpty ? Body.empty : .bytes([UInt8](data))
    return try await FoundationCall(self, request, body: body, delegate: delegate).collect()
  }

  /// Sends a request with the content of a file as its body.
  public func upload(
    for request: URLRequest, fromFile file: URL, delegate: (any TransactionDelegate)? = nil
  ) async throws(URLError) -> (Data, HTTPURLResponse) {
    let body = try await Body.file(at: file)
    return try await FoundationCall(self, request, body: body, delegate: delegate).collect()
  }

  /// Downloads a URL to a new file in the folder for temporary files (`TMPDIR`). The caller must move or delete the
  /// file.
  public func download(
    from url: URL, delegate: (any TransactionDelegate)? = nil
  ) async throws(URLError) -> (URL, HTTPURLResponse) {
    try await download(for: URLRequest(url: url), delegate: delegate)
  }

  /// Sends a request, and writes the body of its response to a new file in the folder for temporary files (`TMPDIR`).
  /// The caller must move or delete the file. A status other than 2xx is an error. The underlying `DownloadFailure` of
  /// an error can contain the data to resume the download.
  public func download(
    for request: URLRequest, delegate: (any TransactionDelegate)? = nil
  ) async throws(URLError) -> (URL, HTTPURLResponse) {
    try await FoundationCall(self, request, delegate: delegate).download()
  }

  /// Gets a URL, and returns when the head has arrived.
  public func bytes(
    from url: URL, delegate: (any TransactionDelegate)? = nil
  ) async throws(URLError) -> (ResponseBytes, HTTPURLResponse) {
    try await bytes(for: URLRequest(url: url), delegate: delegate)
  }

  /// Sends a request, and returns when the head has arrived. `timeoutInterval` applies until the head has arrived.
  ///
  /// ``ResponseBytes`` throws errors of the body.
  public func bytes(
    for request: URLRequest, delegate: (any TransactionDelegate)? = nil
  ) async throws(URLError) -> (ResponseBytes, HTTPURLResponse) {
    try await FoundationCall(self, request, delegate: delegate).open()
  }
}

extension Body {
  /// The content of a file, as a request body.
  static func file(at url: URL) async throws(URLError) -> Body {
    guard url.isFileURL else { throw URLError(.cannotOpenFile) }
    do throws(TransactionError) { return try await Body.file(at: url.path) } catch { throw URLError(error) }
  }
}
