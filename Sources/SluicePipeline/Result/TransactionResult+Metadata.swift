public import SluiceMessages

// Facts about a transaction. Each is nil if the transaction did not get that far, and is computed on access.
extension TransactionResult {
  /// The URL of the last hop, after redirects; nil if nothing was sent.
  public var finalURL: HTTPURL? { issuedRequest?.url }

  /// The status of the final response; nil without a response.
  public var status: Int? { response?.status }

  /// The headers of the final response, as the stages left them; nil without a response.
  public var headers: HeaderFields? { response?.headers }

  /// The response's media type without parameters, in lower case; nil also if it names none.
  public var mimeType: String? { mediaType?.essence }

  /// The response's character encoding from its `Content-Type`; nil also if it names none.
  public var encoding: String? { mediaType?.charset }

  private var mediaType: MediaType? { response?.headers["content-type"].flatMap { MediaType($0) } }
}
