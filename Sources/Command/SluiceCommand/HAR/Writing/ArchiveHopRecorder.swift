import Sluice
import SluiceAssembly
import SluiceMessages
import SluicePipeline

/// Passes all calls of one hop on to its observer, and keeps the facts that an archive shows.
///
/// Unchecked because it is confined to its loop.
final class ArchiveHopRecorder: TransferRelay, @unchecked Sendable {
  let observer: any TransferObserver
  private let hops: HopCorrelation
  private let began = UniversalTime.now
  private var request: Request
  private var requestBody: BodySample
  /// False while a body that can be produced only once has not been read to its end.
  private var isRequestWhole = true
  private var sentHead: [UInt8]?
  private var response: Response?
  private var responseBody = BodySample()
  private var disposition = BodyDisposition.hold
  private var connection: ConnectionFacts?
  private var receivedBytes = 0

  init(_ request: Request, _ observer: any TransferObserver, _ hops: HopCorrelation) {
    self.observer = observer
    self.hops = hops
    self.request = request
    requestBody = BodySample(request.body)
    self.request.body = .empty
  }

  /// The request body for the transport. A body that can be produced only once is sampled while it is read.
  func sampled(_ body: Body) -> Body {
    guard case .stream(let stream) = body else { return body }
    isRequestWhole = false
    let read: @Sendable (Int) throws -> [UInt8]? = { [self] maximum in
      let piece = try stream.read(maximum)
      if let piece { requestBody.append(piece) }
      isRequestWhole = piece == nil || requestBody.byteCount == stream.byteCount
      return piece
    }
    // `BodyStream.mapped` is not used, because it would replace the wake-up handler that the transaction has set.
    let tapped = stream.trailers.map { BodyStream(trailers: $0, read: read) }
    return .stream(tapped ?? BodyStream(byteCount: stream.byteCount, read: read))
  }

  /// Gets the whole head, or its first part if it is written in parts.
  func didSend(_ head: [UInt8]) { sentHead = head }

  /// The facts about the hop. Must be called at the end of the hop.
  func hop(_ event: TraceEvent, _ identity: ArchivedHop.Identity) -> ArchivedHop {
    var hop = ArchivedHop(request, began: began, identity: identity)
    hop.requestBody = requestBody
    if !isRequestWhole { hop.requestBody.gap = "incomplete, because the hop ended before all of it was sent" }
    hop.sentHead = sentHead
    hop.response = response
    hop.responseBody = responseBody
    hop.connection = connection
    if responseBody.byteCount == 0, hasUnseenBody { hop.responseBody.gap = "not kept: nothing needed this body" }
    hop.take(event)
    return hop
  }

  /// Whether the response had a body that was not delivered. The transport reads and drops a body that nobody wants, or
  /// does not read it.
  private var hasUnseenBody: Bool {
    guard receivedBytes == 0 else { return true }
    guard disposition == .discard, request.method != "HEAD", let headers = response?.headers else { return false }
    return headers.contains("transfer-encoding") || headers["content-length"].map { $0 != "0" } ?? false
  }

  // MARK: Events

  func transferWillIssue(_ headers: inout HeaderFields) -> Bool {
    let earlier = hops.enter(self)
    defer { hops.leave(to: earlier) }
    guard observer.transferWillIssue(&headers) else { return false }
    request.headers = headers
    hops.expectHead(of: self)
    return true
  }

  func transferDidReceiveHead(_ head: consuming Response) -> BodyDisposition {
    response = copy head
    disposition = observer.transferDidReceiveHead(head)
    return disposition
  }

  func transferDidReceive(_ piece: [UInt8]) -> BodyProgress {
    responseBody.append(piece)
    return observer.transferDidReceive(piece)
  }

  func transferDidEnd(_ end: consuming TransferEnd) {
    if case .empty = end.body {} else { responseBody = BodySample(end.body) }
    connection = end.connection
    receivedBytes = end.timings.bytesReceived
    let earlier = hops.enter(self)
    defer { hops.leave(to: earlier) }
    observer.transferDidEnd(end)
  }
}
