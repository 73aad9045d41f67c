import SluiceMessages
import SluiceTransport
import Testing

/// The computations of RFC 7616.
@Suite struct DigestTests {
  private static func challenge(_ parameters: String) throws -> DigestChallenge? {
    let headers: HeaderFields = ["www-authenticate": "Digest " + parameters]
    return try DigestChallenge(#require(Challenge.challenges(in: headers, "www-authenticate").first))
  }

  private static let mufasa = Credentials(user: Array("Mufasa".utf8), password: Array("Circle of Life".utf8))
  private static let common =
    #"realm="http-auth@example.org", nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS""#
  private static let clientNonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"

  /// The first two responses are from RFC 7616 §3.9.1. The others were computed with Python's hashlib.
  @Test(arguments: [
    (#"qop="auth, auth-int", algorithm=MD5"#, "8ca523f5e9506fed4657c9700eebdbec"),
    (#"qop="auth, auth-int", algorithm=SHA-256"#, "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    (#"qop=auth, algorithm=sha-256-SESS"#, "2fd51b3a77ad75bad6afad6003e818d767133c46d9e2749e7f5232ae1ea3efd7"),
    (#"qop="auth", algorithm=MD5-sess"#, "e783283f46242139c486a698fec7211d"),
    ("stale=false", "7b2cc3b30e75b4777ea31027084363fd"),
  ])
  func `the response is the value that RFC 7616 defines`(parameters: String, response: String) throws {
    let digest = try #require(try Self.challenge(Self.common + ", " + parameters))
    let value = try #require(digest.answer(Self.mufasa, "GET", "/dir/index.html", 1, Self.clientNonce))
    #expect(value.hasPrefix(#"Digest username="Mufasa", realm="http-auth@example.org", nonce="7ypf"#))
    #expect(value.contains(#", uri="/dir/index.html", response="\#(response)", "#))
    #expect(value.contains(#", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS""#))
    #expect(value.contains("nc=00000001") == parameters.contains("qop"))
  }

  /// The hash of a session contains the client nonce (RFC 7616 §3.4.2), so the server must get it. The response was
  /// computed with Python's hashlib.
  @Test func `a session without a quality sends its client nonce, and no count`() throws {
    let digest = try #require(try Self.challenge(Self.common + ", algorithm=MD5-sess"))
    let value = try #require(digest.answer(Self.mufasa, "GET", "/dir/index.html", 1, Self.clientNonce))
    #expect(
      value.contains(#"response="37a7f42db2090a3fcac4e26e747d4fc8""#)
        && value.contains(#"cnonce="\#(Self.clientNonce)""#))
    #expect(!value.contains("nc=") && !value.contains("qop="))
    let plain = try #require(try Self.challenge(Self.common))
    #expect(plain.answer(Self.mufasa, "GET", "/", 1, Self.clientNonce)?.contains("cnonce") == false)
  }

  /// The example of RFC 7616 §3.9.2, with the hash of the user name from the RFC's erratum.
  @Test func `a user name outside of ASCII is sent in UTF-8, or as a hash`() throws {
    let jason = Credentials(user: Array("Jäsøn Doe".utf8), password: Array("Secret, or not?".utf8))
    let common =
      #"realm="api@example.org", nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", qop="auth", algorithm=SHA-512-256, charset=UTF-8"#
    let hashed = try #require(try Self.challenge(common + ", userhash=true"))
    let value = try #require(hashed.answer(jason, "GET", "/doe.json", 1, "NTg6RKcb9boFIAS3KrFK9BGeh+niz/sm"))
    #expect(value.contains(#"username="793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b""#))
    #expect(value.contains(#"response="7a4e1192babbba02e91182d2895bfdbf7adafc6e48d4e517ca301974843d840c""#))
    #expect(value.hasSuffix("userhash=true"))
    let plain = try #require(try Self.challenge(common))
    let text = try #require(plain.answer(jason, "GET", "/doe.json", 0x1A, "c"))
    #expect(text.hasPrefix("Digest username*=UTF-8''J%C3%A4s%C3%B8n%20Doe, realm="))
    #expect(text.contains("nc=0000001a"))
  }

  @Test(arguments: [
    #"nonce="a""#, #"realm="a""#, #"realm="a", nonce="b", algorithm=SHA-1"#, #"realm="a", nonce="b", qop="auth-int""#,
    #"realm="a", nonce="b", qop="""#, #"realm="a", nonce="b", algorithm="-sess""#,
  ])
  func `a challenge that is incomplete or not supported is not answered`(parameters: String) throws {
    #expect(try Self.challenge(parameters) == nil)
  }

  @Test func `quotes in a realm do not end it, and a user name with a line break is not sent`() throws {
    let digest = try #require(try Self.challenge(#"realm="a\"b\\c", nonce="n", qop=auth"#))
    #expect(digest.answer(Self.mufasa, "GET", "/", 1, "c")?.contains(#"realm="a\"b\\c""#) == true)
    let broken = Credentials(user: Array("a\r\nb: c".utf8), password: [])
    #expect(digest.answer(broken, "GET", "/", 1, "c") == nil)
  }
}
