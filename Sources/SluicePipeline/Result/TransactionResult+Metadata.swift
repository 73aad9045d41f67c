public import SluiceMessages

// What is known of a transaction, as far as it got: each is nil where it did not get so far. Found out when it is asked for.
extension TransactionResult {
  /// Where the last hop went, redirects followed; nil where nothing was sent.
  public var finalURL: HTTPURL? { issuedRequest?.url }

  /// The status of the final response; nil without a response.
  public var status: Int? { response?.status }

  /// The headers of the final response, as the stages left them; nil without a response.
  public var headers: HeaderFields? { response?.headers }

  /// The response's media type without parameters, in lower case; nil also where it names none.
  public var mimeType: String? { mediaType?.essence }

  /// The response's character encoding as its `Content-Type` names it; nil also where it names none.
  public var encoding: String? { mediaType?.charset }

  private var mediaType: MediaType? { response?.headers["content-type"].flatMap { MediaType($0) } }
}
