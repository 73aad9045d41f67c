import SluiceMessages
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceCommand

/// `send --from-curl` with commands as browsers and other programs copy them, and `send --curl`.
@Suite struct FromCurlTests {
  /// `{url}` is the server.
  private static let commands: [String] = [
    // Chrome, "Copy as cURL (bash)".
    "curl '{url}/'", "curl '{url}/a?b=c&d=%20'",
    "curl '{url}/api' \\\n  -H 'accept: application/json' \\\n  -H 'accept-language: de,en;q=0.9' \\\n  -H 'cache-control: no-cache'",
    "curl '{url}/api' -H 'sec-ch-ua: \"Chromium\";v=\"130\", \"Not?A_Brand\";v=\"99\"' -H 'sec-ch-ua-mobile: ?0' --compressed",
    "curl '{url}/api' -X 'POST' -H 'content-length: 0' --compressed --insecure",
    "curl '{url}/api' -H 'content-type: application/json' --data-raw '{\"a\":1,\"b\":\"x y\"}' --compressed",
    "curl '{url}/api' -H 'content-type: application/json' --data-raw $'{\"a\":\"it\\'s\"}'",
    "curl '{url}/api' --data-raw $'{\"a\":\"\\u0021\\n\\t\\\\\"}'",
    "curl '{url}/api' -X 'PUT' -H 'content-type: text/plain' --data-raw 'a\nb\nc'",
    "curl '{url}/api' -X 'DELETE' -H 'x-csrf: abc' ",
    "curl '{url}/api' -X 'OPTIONS' -H 'access-control-request-method: POST'",
    "curl '{url}/api' -b 'a=1; b=2' -H 'referer: {url}/'",
    "curl '{url}/graphql' --data-raw $'{\"query\":\"{ me { name } }\"}'",
    "curl '{url}/form' -H 'content-type: application/x-www-form-urlencoded' --data-raw 'a=1&b=%C3%BC'",
    "curl '{url}/form' -H 'content-type: multipart/form-data; boundary=----WebKitFormBoundaryX' --data-raw $'------WebKitFormBoundaryX\\r\\nContent-Disposition: form-data; name=\"a\"\\r\\n\\r\\n1\\r\\n------WebKitFormBoundaryX--\\r\\n'",
    // Firefox.
    "curl '{url}/' --compressed -H 'User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:131.0) Gecko/20100101 Firefox/131.0' -H 'Accept: */*' -H 'Connection: keep-alive'",
    "curl '{url}/' -X POST -H 'Accept: */*' -H 'Content-Type: application/json' --data-raw '{\"a\": \"ü\"}'",
    "curl '{url}/' -H 'Cookie: a=1; b=2' -H 'DNT: 1' -H 'TE: trailers'", "curl '{url}/' -X PATCH --data-raw ''",
    "curl '{url}/' -X POST -H 'Content-Type: multipart/form-data; boundary=---------------------------1' --data-binary $'-----------------------------1\\r\\nContent-Disposition: form-data; name=\"f\"\\r\\n\\r\\nx\\r\\n-----------------------------1--\\r\\n'",
    "curl '{url}/' --globoff -H 'If-None-Match: W/\"1\"'", "curl '{url}/' -H 'Range: bytes=0-'",
    // Safari.
    "curl '{url}/' \\\n-X 'GET' \\\n-H 'Accept: text/html' \\\n-H 'Priority: u=0, i'",
    "curl '{url}/' \\\n-X 'POST' \\\n-H 'Content-Type: application/json' \\\n--data-binary '{\"a\":true}'",
    // Postman, Insomnia, documentation of APIs.
    "curl --location --request POST '{url}/v1' \\\n--header 'Authorization: Bearer abc' \\\n--header 'Content-Type: application/json' \\\n--data '{\n    \"a\": 1\n}'",
    "curl --location '{url}/v1' --form 'a=\"1\"' --form 'b=\"x;y\"'",
    "curl --location -g '{url}/v1?a=1' --data-urlencode 'b=2'",
    "curl --request GET --url '{url}/v1?a=b' --header 'user-agent: insomnia/9'",
    "curl {url}/v1 -u sk_test_abc: -d amount=5 -d currency=eur",
    "curl \"{url}/v1/a\" -H \"Authorization: Token \\\"x\\\"\" -d \"a=b\"", "curl -s -S -XGET {url}/v1/a\\?b\\=c",
    "/usr/bin/curl -sSL -H \"X-A: 1\" -H 'X-B: '\"'\"'q'\"'\"'' {url}/",
  ]

  @Test(.enabled(if: CurlCommand.path != nil), arguments: commands)
  func `a copied command is sent as curl sends it`(_ command: String) async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let text = command.replacing("{url}", with: server.baseURL)
    _ = try await Command.run("bash", ["-c", text], environment: ["HOME": "/nowhere"])
    let result = try await Tool.run("send", "--from-curl", text)
    #expect(result.status == 0, "\(result.errorText)")
    let piped = try await Tool.run("send", "--from-curl", "-", input: text + "\n")
    #expect(piped.status == 0)
    let shown = server.requests.map { CurlCommand.comparable($0, without: Self.left) }
    #expect(shown.count == 3 && shown[1] == shown[0] && shown[2] == shown[0], "\(shown)")
  }

  @Test func `there are at least thirty copied commands`() { #expect(Self.commands.count >= 30) }

  @Test(.enabled(if: CurlCommand.path != nil), arguments: commands)
  func `the curl command that --curl prints sends the same request`(_ command: String) async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let text = command.replacing("{url}", with: server.baseURL)
    _ = try await Tool.run("send", "--from-curl", text)
    let printed = try await Tool.run("send", "--curl", "--from-curl", text)
    #expect(printed.status == 0 && server.requestCount == 1, "\(printed.errorText)")
    _ = try await Command.run("bash", ["-c", printed.outputText], environment: ["HOME": "/nowhere"])
    let shown = server.requests.map {
      CurlCommand.comparable($0, without: Self.left.union(["authorization", "cookie"]))
    }
    #expect(shown.count == 2 && shown[1] == shown[0], "\(printed.outputText) \(shown)")
  }

  /// Fields that may differ: curl sends Accept-Encoding only on request, and `send` leaves out connection-specific
  /// fields.
  private static let left: Set = ["accept-encoding", "connection", "te"]

  @Test func `secrets are hidden in the command`() async throws {
    let result = try await Tool.run(
      "send", "--curl", "-u", "me:s3cret", "-H", "Authorization: Bearer s3cret", "-b", "a=s3cret", "--oauth2-bearer",
      "s3cret", "-H", "X-Plain: 'shown'", "-d", "a b", "-c", "/dev/null", "http://me:s3cret@h.example/a?b")
    #expect(result.status == 2, "the configuration is read: \(result.outputText)")
    let plain = try await Tool.run(
      "send", "--curl", "-H", "X-Api-Key: s3cret", "-b", "a=s3cret", "-H", "X-Plain: 'shown'", "-d", "a b",
      "http://me:s3cret@h.example/a?b")
    #expect(
      plain.outputText == """
        curl -L --compressed --fail-with-body -H 'X-Api-Key: REDACTED' -b a=REDACTED -H 'X-Plain: '\\''shown'\\''' \
        -d 'a b' -u REDACTED:REDACTED 'http://h.example/a?b'

        """)
  }

  @Test(arguments: [
    ("wget http://h/", "expected a command that begins with \"curl\""), ("", "begins with \"curl\""),
    ("curl", "a command with a URL"),
    ("curl 'http://h/", "the text ends within '"), ("curl \"http://h/", "the text ends within \""),
    ("curl $'http://h/", "the text ends within $'"), ("curl http://h/ | jq .", "found | outside of quotes"),
    ("curl http://h/?a=1&b=2", "found & outside of quotes"), ("curl http://h/ -H $TOKEN", "found $ outside"),
    ("curl http://h/ -H \"X: $TOKEN\"", "$ or ` within double quotes"), ("curl http://h/\nrm -rf x", "a second line"),
    ("curl ^\"http://h/^\"", "Windows' cmd"), ("curl --ntlm http://h/", "--ntlm is not available: Kerberos"),
    ("curl --trace x http://h/", "unknown option --trace"),
    ("curl --nosuch http://h/", "unknown option --nosuch"),
    ("curl http://h/ -X", "needs a value"),
  ])
  func `a text that is not a single curl command is refused`(_ text: String, _ message: String) async throws {
    let result = try await Tool.run("send", "--from-curl", text)
    #expect(result.status == 2 && result.errorText.contains(message), "\(result.errorText)")
  }

  @Test func `--from-curl together with a URL is refused`() async throws {
    let result = try await Tool.run("send", "--from-curl", "curl http://h/", "http://h/")
    #expect(result.status == 2 && result.errorText.contains("give either a URL or --from-curl"))
  }

  @Test(arguments: ["a", "", "a b", "it's", "\"", "a\nb\t\\", "ü", "$x `y`", "\u{1}\u{7F}", "*", "-x", "é\n"])
  func `a quoted word is read back as the same word`(_ word: String) throws {
    #expect(try ShellWords.parse(ShellWords.quoted(Array(word.utf8)).utf8).map(\.bytes) == [Array(word.utf8)])
  }

  @Test func `bytes that are not UTF-8 are quoted too`() throws {
    let word = (0...255).map { UInt8($0) }.filter { $0 != 0 }
    #expect(try ShellWords.parse(ShellWords.quoted(word).utf8).map(\.bytes) == [word])
  }
}
