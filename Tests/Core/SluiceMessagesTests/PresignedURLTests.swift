import SluiceMessages
import Testing

@Suite struct PresignedURLTests {
  @Test(arguments: [
    "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=abc", "x-amz-signature=", "a=1&X%2DAmz%2dSignature=abc",
    "X-Goog-Signature=abc&X-Goog-Expires=1", "Expires=1&Signature=abc&Key-Pair-Id=K",
    "Policy=p&Signature=abc&Key-Pair-Id=K", "AWSAccessKeyId=A&Signature=a&Expires=1", "sv=2022&se=2026&sr=b&sig=abc",
    "sig&se",
  ])
  func `a presigned URL is recognized by its query`(query: String) throws {
    #expect(try HTTPURL("https://a.example/b?\(query)").isPresigned)
    #expect(try HTTPURL("https://a.example?\(query)#fragment").isPresigned)
  }

  @Test(arguments: [
    "", "a=1", "X-Amz-Credential=a", "q=X-Amz-Signature=1", "X-Amz-Signatures=1", "Signature=abc", "Expires=1",
    "sig=abc",
    "se=1", "signal=1&sea=2", "u=https://b.example/?X-Amz-Signature", "X%2-Amz-Signature=1", "X-Amz-Signatur%65%=1",
    "&&=&",
    "a%26X-Amz-Signature=1",
  ])
  func `a URL without a signature is not presigned`(query: String) throws {
    #expect(try !HTTPURL("https://a.example/X-Amz-Signature=1?\(query)").isPresigned)
    #expect(try !HTTPURL("https://a.example/?\(query)#X-Amz-Signature=1").isPresigned)
  }

  @Test func `a URL without a query is not presigned`() throws {
    #expect(!HTTPURL("https://a.example").isPresigned)
  }
}
