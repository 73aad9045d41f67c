import Sluice
import SluiceMessages
import SluicePipeline

/// A download in progress. It ends with a complete file, or with the data for resuming.
struct Download {
  let client: Client
  let delegate: (any TransactionDelegate)?
  let cancellation: Cancellation?
  let file: any DownloadTarget
  /// The request that the caller gave.
  let request: Request
  /// How many bytes of the file have been written.
  var offset = 0
  /// The size of the whole file; nil if it is unknown.
  var totalBytes: Int?
  var validator: StrongValidator?
  /// Whether the file can contain bytes that do not belong to it.
  private var isSpoiled = false

  init(
    _ client: Client, _ request: Request, _ file: any DownloadTarget, _ delegate: (any TransactionDelegate)?,
    _ cancellation: Cancellation?
  ) {
    self.client = client
    self.request = request
    self.file = file
    self.delegate = delegate
    self.cancellation = cancellation
  }

  /// What the head of a response means for the file.
  private enum Judgement {
    /// Its body is the whole file.
    case whole
    /// The body continues the file up to this position.
    case continues(end: Int)
    /// The response does not fit the part that is already here, so the whole file must be requested.
    case asksAgain
  }

  // MARK: The course

  /// Gets the whole file, or only the rest if a part of it is already here.
  mutating func run() async throws(DownloadFailure) -> Response {
    do throws(TransactionError) {
      let response = try await receive()
      try await file.finish()
      return response
    } catch { throw await fail(error) }
  }

  private mutating func receive() async throws(TransactionError) -> Response {
    let resumes = validator != nil && offset > 0
    let (source, head) = try await client.open(resumes ? rangeRequest : wholeRequest, delegate, cancellation)
    switch try resumes ? judgeRest(head) : judge(head) {
    case .whole:
      try await startOver(head)
      try await write(source.pipe, upTo: nil)
      return head
    case .continues(let end):
      try await write(source.pipe, upTo: end)
      guard offset == end, totalBytes == end else {
        throw TransactionError(
          code: .invalidResponse,
          message:
            "the server sent \(offset) bytes of the file, whose size is \(totalBytes.map(String.init) ?? "unknown")"
        )
      }
      return head
    case .asksAgain:
      validator = nil
      return try await receive()
    }
  }

  /// The file gets what the server sends: no content coding is requested, and none is decoded.
  private var wholeRequest: Request {
    var request = request
    request.options.decodesContent = false
    return request
  }

  /// Asks for the rest if the file is still the same, and for the whole file otherwise (RFC 9110 §14.2 and §13.1.5).
  private var rangeRequest: Request {
    var request = wholeRequest
    request.headers["range"] = "bytes=\(offset)-"
    request.headers["if-range"] = validator?.text
    return request
  }

  // MARK: The head

  private func judge(_ head: Response) throws(TransactionError) -> Judgement {
    // The caller has asked for a part itself, so this part counts as the whole file.
    if head.status == 206, request.headers.contains("range") { return .whole }
    guard head.status != 206, (200...299).contains(head.status) else { throw unexpected(head) }
    return .whole
  }

  private mutating func judgeRest(_ head: Response) throws(TransactionError) -> Judgement {
    switch head.status {
    case 206: break
    case 416: return .asksAgain
    default: return try judge(head)
    }
    guard let range = head.headers["content-range"].flatMap({ ContentRange($0) }), range.bytes.lowerBound == offset,
      validator?.isCompatible(with: head.headers) == true, !head.headers.contains("content-encoding"),
      totalBytes == nil || range.total == nil || totalBytes == range.total
    else { return .asksAgain }
    totalBytes = totalBytes ?? range.total
    return .continues(end: range.bytes.upperBound + 1)
  }

  private func unexpected(_ head: Response) -> TransactionError {
    TransactionError(
      code: head.status == 206 ? .invalidResponse : .status,
      message: "the server answered \(head.status) and not with the whole file; nothing was written to \(file.target)")
  }

  private mutating func startOver(_ head: Response) async throws(TransactionError) {
    if offset > 0 {
      offset = 0
      try await file.startOver()
    }
    let isCoded = head.headers.contains("content-encoding")
    let isResumable =
      request.method == "GET" && head.status == 200 && !isCoded
      && head.headers["accept-ranges"]?.lowercased() != "none"
    validator = isResumable ? StrongValidator(head.headers) : nil
    totalBytes = head.headers["content-length"].flatMap { Int($0) }
  }

  // MARK: The body

  private mutating func write(_ pipe: BodyPipe, upTo end: Int?) async throws(TransactionError) {
    while let pieces = try await pipe.nextChunks() {
      let count = pieces.reduce(0) { $0 + $1.count }
      if let end, offset + count > end {
        isSpoiled = true
        throw TransactionError(
          code: .invalidResponse, message: "the server sent more of the file than its Content-Range says")
      }
      try await file.write(pieces, at: offset) {
        if Task.isCancelled { pipe.cancel() }
        return pipe.failed
      }
      offset += count
    }
  }

  // MARK: The end

  /// Keeps a part that can be continued, synced to disk, and removes everything else.
  private func fail(_ error: TransactionError) async -> DownloadFailure {
    if let data = resumeData, await file.keep(data.offset) { return DownloadFailure(error: error, resumeData: data) }
    await file.remove()
    return DownloadFailure(error: error, resumeData: nil)
  }

  private var resumeData: ResumeData? {
    guard let validator, offset > 0, !isSpoiled, let partialPath = file.partialPath else { return nil }
    return ResumeData(
      url: request.url, target: file.target, offset: offset, totalBytes: totalBytes, partialFile: partialPath,
      validator: validator)
  }
}
