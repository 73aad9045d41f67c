import AWSSignatureRules
import AWSSignatureStage
import SluiceMessages
import Testing

/// The requests of AWS's test suite (`aws-sig-v4-test-suite`), and the examples of the documentation of S3.
@Suite struct PublishedVectorTests {
  struct Vector: Sendable, CustomStringConvertible {
    let name: String
    var method = "GET"
    var path = "/"
    var query: String?
    var fields: [(String, String)] = []
    var body = ""
    let signature: String

    var description: String { name }
  }

  private static let secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
  private static let date = "20150830T123600Z"
  private static let form = "application/x-www-form-urlencoded"
  private static let vanilla = "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"
  private static let unreserved = "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
  private static let token =
    "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwth"
    + "Ax7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAk"
    + "iY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA=="

  @Test(arguments: [
    Vector(name: "get-vanilla", signature: vanilla),
    Vector(
      name: "get-vanilla-query-order-key-case", query: "Param2=value2&Param1=value1",
      signature: "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
    Vector(
      name: "get-vanilla-query-order-value", query: "Param1=value2&Param1=value1",
      signature: "5772eed61e12b33fae39ee5e7012498b51d56abc0abb7c60486157bd471c4694"),
    Vector(
      name: "get-vanilla-query-unreserved", query: "\(unreserved)=\(unreserved)",
      signature: "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197"),
    Vector(
      name: "get-utf8", path: "/\u{1234}",
      signature: "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"),
    Vector(
      name: "get-vanilla-utf8-query", query: "\u{1234}=bar",
      signature: "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"),
    Vector(
      name: "normalize-path/get-space", path: "/example space/",
      signature: "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741"),
    Vector(
      name: "normalize-path/get-slashes", path: "//example//",
      signature: "9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84"),
    Vector(
      name: "normalize-path/get-slash-pointless-dot", path: "/./example",
      signature: "ef75d96142cf21edca26f06005da7988e4f8dc83a165a80865db7089db637ec5"),
    Vector(name: "normalize-path/get-slash", path: "//", signature: vanilla),
    Vector(name: "normalize-path/get-slash-dot-slash", path: "/./", signature: vanilla),
    Vector(name: "normalize-path/get-relative", path: "/example/..", signature: vanilla),
    Vector(name: "normalize-path/get-relative-relative", path: "/example1/example2/../..", signature: vanilla),
    Vector(
      name: "get-header-key-duplicate",
      fields: [("my-header1", "value2"), ("my-header1", "value2"), ("my-header1", "value1")],
      signature: "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"),
    Vector(
      name: "get-header-value-trim", fields: [("my-header1", " value1"), ("my-header2", " \"a   b   c\"")],
      signature: "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"),
    Vector(
      name: "post-vanilla", method: "POST",
      signature: "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
    Vector(
      name: "post-sts-header-before", method: "POST", fields: [("x-amz-security-token", token)],
      signature: "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead"),
    Vector(
      name: "post-x-www-form-urlencoded", method: "POST", fields: [("content-type", form)], body: "Param1=value1",
      signature: "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"),
    Vector(
      name: "post-x-www-form-urlencoded-parameters", method: "POST",
      fields: [("content-type", "\(form); charset=utf8")], body: "Param1=value1",
      signature: "1a72ec8f64bd914b0e42e42607c7fbce7fb2c7465f63e3092b3b0d39fa77a6fe"),
  ])
  func `the test suite of AWS gives these signatures`(_ vector: Vector) throws {
    let signer = Self.signer(Self.secret, "service")
    var fields = SignedFields()
    for (name, value) in vector.fields + [("host", "example.amazonaws.com"), ("x-amz-date", Self.date)] {
      fields.append(name, Array(value.utf8))
    }
    let request = CanonicalRequest(
      method: vector.method, path: CanonicalURL.path(vector.path, isS3: false),
      query: CanonicalURL.query(vector.query), fields: fields,
      bodyHash: try Hash.hexadecimal(of: Array(vector.body.utf8), ContentDigest.hash))
    let authorization = String(decoding: try signer.authorization(request, Self.date), as: UTF8.self)
    #expect(
      authorization
        == "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
        + "SignedHeaders=\(request.signedNames), Signature=\(vector.signature)")
  }

  @Test(arguments: [
    Vector(
      name: "GET object", path: "/test.txt", fields: [("range", "bytes=0-9")],
      signature: "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"),
    Vector(
      name: "PUT object", method: "PUT", path: "/test$file.text",
      fields: [("date", "Fri, 24 May 2013 00:00:00 GMT"), ("x-amz-storage-class", "REDUCED_REDUNDANCY")],
      body: "Welcome to Amazon S3.", signature: "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"),
    Vector(
      name: "GET bucket lifecycle", query: "lifecycle",
      signature: "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
    Vector(
      name: "GET bucket", query: "max-keys=2&prefix=J",
      signature: "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
  ])
  func `the documentation of S3 has these signatures`(_ vector: Vector) throws {
    let date = "20130524T000000Z"
    let hash = try Hash.hexadecimal(of: Array(vector.body.utf8), ContentDigest.hash)
    let own = [("host", "examplebucket.s3.amazonaws.com"), ("x-amz-date", date), ("x-amz-content-sha256", hash)]
    var fields = SignedFields()
    for (name, value) in vector.fields + own { fields.append(name, Array(value.utf8)) }
    let request = CanonicalRequest(
      method: vector.method, path: CanonicalURL.path(vector.path, isS3: true),
      query: CanonicalURL.query(vector.query), fields: fields, bodyHash: hash)
    let signer = Self.signer("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "s3")
    #expect(String(decoding: try signer.authorization(request, date), as: UTF8.self).hasSuffix(vector.signature))
  }

  @Test func `the key of a day is that of the documentation`() throws {
    let key = SigningKey(id: [], secret: Array(Self.secret.utf8))
    let derived = try key.derived(["20150830", "us-east-1", "iam", "aws4_request"], ContentDigest.hash)
    #expect(derived.hexadecimal == "c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9")
  }

  private static func signer(_ secret: String, _ service: String) -> RequestSigner {
    let key = SigningKey(id: Array("AKIDEXAMPLE".utf8), secret: Array(secret.utf8))
    return RequestSigner(key, region: "us-east-1", service: service, hash: ContentDigest.hash)
  }
}
