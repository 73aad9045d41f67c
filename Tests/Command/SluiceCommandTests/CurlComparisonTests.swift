import SluiceServer
import Testing

@testable import SluiceCommand

/// Runs curl and `sluice send` with the same arguments. The server must get the same requests, and both commands must
/// print the same output and write the same files.
@Suite(.enabled(if: CurlCommand.path != nil)) struct CurlComparisonTests {
  @Test(arguments: CurlInvocations.all)
  func `curl and send do the same`(_ words: String) async throws {
    // Curl follows no redirects by default, so `--no-location` is left out for it.
    let curl = try await CurlFixture().run(
      "\(CurlCommand.path ?? "curl") \(Self.additions(words))", words.replacing("--no-location ", with: ""))
    let send = try await CurlFixture().run("\(Tool.path) send", words)
    #expect(send == curl, "\(words)")
  }

  /// `send` gets the date of curl's signature as a header, so both signatures must be equal.
  @Test(arguments: CurlInvocations.signed)
  func `curl and send sign in the same way`(_ words: String) async throws {
    let fixture = try CurlFixture()
    let host = "--connect-to ::127.0.0.1:{port}"
    let words = words.replacing("{url}", with: "http://service.region.example")
    let curl = try #require(
      try await fixture.received("\(CurlCommand.path ?? "curl") -s --compressed", "\(host) \(words)").last)
    let date = try #require(curl.headers.first { $0.name.lowercased().hasSuffix("-date") })
    let send = try #require(
      try await fixture.received("\(Tool.path) send", "\(host) -H '\(date.name): \(date.value)' \(words)").last)
    #expect(send.headers.first("authorization") == curl.headers.first("authorization"), "\(words)")
    #expect(CurlCommand.comparable(send) == CurlCommand.comparable(curl))
  }

  /// The options that make curl do what `send` does by itself.
  private static func additions(_ words: String) -> String {
    let following = words.contains("--no-location") ? "" : "-L"
    let failing = words.contains(#/(^| )(-[a-zA-Z]*f[a-zA-Z]*|--fail) /#) ? "" : "--fail-with-body"
    let asksForNone = words.contains(
      #/(^| )(-[a-zA-Z]*[oOIrC][a-zA-Z]* |--output |--remote-name|--head |--range |--continue-at )/#)
    // With -X GET, -I sends no HEAD.
    return [following, asksForNone && !words.contains("-X GET") ? "" : "--compressed", failing].filter { !$0.isEmpty }
      .joined(separator: " ")
  }
}
