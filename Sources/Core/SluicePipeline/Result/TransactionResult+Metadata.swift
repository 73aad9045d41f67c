public import SluiceMessages

// Facts about a transaction. Each fact is nil if the transaction ended before the fact was known, and is computed on
// access.
extension TransactionResult {
  /// The URL of the last hop, after redirects; nil if nothing was sent.
  public var finalURL: HTTPURL? { issuedRequest?.url }

  /// The status of the final response; nil without a response.
  public var status: Int? { response?.status }

  /// The headers of the final response, as the stages left them; nil without a response.
  public var headers: HeaderFields? { response?.headers }

  /// The response's media type without parameters, in lower case; nil also if the response names no media type.
  public var mimeType: String? { mediaType?.essence }

  /// The response's character encoding from its `Content-Type`; nil also if the field names no encoding.
  public var encoding: String? { mediaType?.charset }

  private var mediaType: MediaType? { response?.headers["content-type"].flatMap { MediaType($0) } }
}
