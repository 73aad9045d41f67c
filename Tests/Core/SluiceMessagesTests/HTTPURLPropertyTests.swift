import SluiceMessages
import SluiceTestKit
import Testing

struct HTTPURLPropertyTests {
  @Test func `no text crashes the parser, and every accepted URL is safe to send`() {
    var random = SeededRandom(seed: 11)
    let pieces = [
      "http", "https", "://", ":", "/", "//", "@", "[", "]", "::1", "a", "example.com", ".", "..", "80", "65536", "%",
      "%41", "?", "#", "\\", " ", "\r\n", "\0", "é", "-", "_", "0x1", "*", "user:pw@",
    ]
    var taken = 0
    for _ in 0..<20_000 {
      let count = Int.random(in: 0...8, using: &random)
      var text = Bool.random(using: &random) ? "http://" : ""
      for _ in 0..<count { text += pieces.randomElement(using: &random) ?? "" }
      guard let url = try? HTTPURL(text) else { continue }
      taken += 1
      #expect(url.string.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") })
      #expect(!url.host.isEmpty && !url.host.contains("@") && !url.host.contains("/"))
      #expect(url.host == url.host.lowercased())
      #expect(url.path.hasPrefix("/"))
    }
    #expect(taken > 500)
  }

  @Test func `a URL that is made from random parts is read as these parts`() throws {
    var random = SeededRandom(seed: 12)
    for _ in 0..<2000 {
      let host = word("abcXYZ-_", &random) + "." + word("abcXYZ", &random)
      let port = UInt16.random(in: 1...65535, using: &random)
      let path = "/" + word("aB/:@!$&'()*+,;=%41~.", &random)
      let query = word("aB/:@?!$&'()*+,;=%41~.", &random)
      let user = Bool.random(using: &random) ? word("aB%41:!$", &random) : nil
      let authority = (user.map { $0 + "@" } ?? "") + "\(host):\(port)"
      let url = try HTTPURL("https://\(authority)\(path)?\(query)#x")
      #expect(url.origin == Origin(scheme: .https, host: host.lowercased(), port: port))
      #expect(url.userInfo == user)
      #expect(url.path == path)
      #expect(url.query == query)
    }
  }

  private func word(_ alphabet: String, _ random: inout SeededRandom) -> String {
    let characters = Array(alphabet)
    return String(
      (0..<Int.random(in: 1...12, using: &random)).compactMap { _ in characters.randomElement(using: &random) })
  }
}
