import SluiceTestKit
import Testing

@testable import SluiceMessages

struct HeaderFieldsPropertyTests {
  @Test func `a header that is changed again and again uses bounded memory`() {
    var fields: HeaderFields = ["first": "1"]
    fields.append("authorization", "secret", marks: .sensitive)
    for round in 0..<20_000 { fields["x-round"] = "value \(round)" }
    #expect(fields.buffer.count < 16_384)
    #expect(fields.map(\.value) == ["1", "secret", "value 19999"])
    #expect(fields.marks(at: 1) == .sensitive)
  }

  @Test(arguments: 1...8)
  func `after any sequence of changes, the fields are the same as in a plain list`(_ seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var fields = HeaderFields()
    var list: [(name: String, value: String, marks: HeaderFields.Marks)] = []
    for step in 0..<3000 {
      let name = ["a", "B", "b", "x-long-name", "X-Long-Name", "c"].randomElement(using: &random) ?? "a"
      let value = String(repeating: "v", count: Int.random(in: 0...300, using: &random)) + "\(step)"
      let marks = HeaderFields.Marks(rawValue: UInt8.random(in: 0...3, using: &random))
      func isNamed(_ other: String) -> Bool { other.lowercased() == name.lowercased() }
      switch Int.random(in: 0..<8, using: &random) {
      case 0...2:
        fields.append(name, value, marks: marks)
        list.append((name, value, marks))
      case 3...4:
        fields.set(name.utf8.span, to: value.utf8.span, marks: marks)
        if let first = list.firstIndex(where: { isNamed($0.name) }) {
          list[first] = (name, value, marks)
          let rest = list[(first + 1)...].filter { !isNamed($0.name) }
          list.replaceSubrange((first + 1)..., with: rest)
        } else {
          list.append((name, value, marks))
        }
      case 5:
        fields.remove(name)
        list.removeAll { isNamed($0.name) }
      case 6 where !list.isEmpty:
        let index = Int.random(in: 0..<list.count, using: &random)
        fields.remove(at: index)
        list.remove(at: index)
      case 7 where !list.isEmpty:
        fields.continueLast(with: value.utf8.span)
        list[list.count - 1].value += (list[list.count - 1].value.isEmpty || value.isEmpty ? "" : " ") + value
      default: break
      }
      #expect(fields.count == list.count)
      #expect(fields.wastedBytes <= max(4096, fields.lineByteCount / 2))
      #expect(fields.wireByteCount == list.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 })
      let index = fields.firstIndex(named: name.utf8.span)
      #expect(index == list.firstIndex { isNamed($0.name) })
    }
    #expect(fields.map(\.name) == list.map(\.name))
    #expect(fields.map(\.value) == list.map(\.value))
    #expect(fields.indices.map { fields.marks(at: $0) } == list.map(\.marks))
  }
}
