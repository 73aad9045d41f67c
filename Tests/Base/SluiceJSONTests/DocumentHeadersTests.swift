import SluiceJSON
import SluiceMessages
import Testing

struct DocumentHeadersTests {
  private func bytes<Result>(_ text: String, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    Array(text.utf8).withUnsafeBufferPointer(body)
  }

  private func all(_ headers: DocumentHeaders) -> [String] {
    (0..<headers.count).compactMap { index in
      headers.field(at: index).map {
        "\(String(decoding: $0.name, as: UTF8.self)): \(String(decoding: $0.value.bytes, as: UTF8.self))"
      }
    }
  }

  @Test func `fields are read and changed in place, and names match in any case`() throws {
    let document = try request(#"{"url": "http://h/", "headers": {"accept": ["a", {"base64": "Yg=="}], "x": "1"}}"#)
    let headers = DocumentHeaders(document)
    #expect(headers["Accept"] == "a")
    #expect(bytes("ACCEPT") { headers.value(named: $0, at: 1)?.bytes } == Array("b".utf8))
    #expect(bytes("accept") { headers.value(named: $0, at: 2) == nil })
    #expect(all(headers) == ["accept: a", "accept: b", "x: 1"])
    headers["X"] = "2"
    headers.add("ACCEPT", "c")
    headers.add("x", "3")
    headers.add("New", "4")
    headers["gone"] = nil
    #expect(document["headers"] == ["accept": ["a", ["base64": "Yg=="], "c"], "x": ["2", "3"], "new": "4"])
    headers["accept"] = nil
    #expect(all(headers) == ["x: 2", "x: 3", "new: 4"])
    #expect(headers.count == 3)
    #expect(headers.field(at: 3) == nil)
    #expect(!bytes("accept") { headers.remove($0) })
  }

  @Test func `values with bytes that are not UTF-8 are stored and returned unchanged`() {
    let document: JSONValue = [:]
    let headers = DocumentHeaders(document)
    let raw: [UInt8] = [0xE4, 0x20, 0xFF]
    bytes("x") { name in raw.withUnsafeBufferPointer { headers.set(name, to: $0) } }
    #expect(document["headers"]?["x"]?["base64"]?.string == "5CD/")
    #expect(bytes("x") { headers.value(named: $0)?.bytes } == raw)
  }

  @Test func `trailers are a separate section, which is created when the first field is set`() {
    let document: JSONValue = ["status": 200]
    DocumentHeaders(document, trailers: true)["x-sum"] = "1"
    #expect(document == ["status": 200, "trailers": ["x-sum": "1"]])
  }

  @Test func `an invalid field value counts as absent`() {
    let document: JSONValue = ["headers": ["a": 1, "b": [], "c": ["base64": "!"], "d": ["x": "y"]]]
    let headers = DocumentHeaders(document)
    for name in ["a", "b", "c", "d", "e"] { #expect(headers[name] == nil) }
    #expect(DocumentHeaders(["headers": 5])["a"] == nil)
    #expect(DocumentHeaders(5)["a"] == nil)
  }

  @Test func `a field can have an empty value`() {
    let document: JSONValue = [:]
    DocumentHeaders(document)["x"] = ""
    #expect(DocumentHeaders(document)["x"] == "")
  }

  @Test func `a thousand fields keep their order, with one name and with many names`() throws {
    var headers = HeaderFields()
    for number in 0..<1000 { headers.append(number.isMultiple(of: 2) ? "x-all" : "x-\(number)", "\(number)") }
    let document = RequestDocument.make(Request(url: HTTPURL("http://h/"), headers: headers))
    #expect(document["headers"]?.count == 501)
    #expect(
      document["headers"]?["x-all"]?.elements.compactMap(\.string) == stride(from: 0, to: 1000, by: 2).map(String.init))
  }
}
