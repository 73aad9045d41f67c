import SluiceMessages
import Testing

struct HeaderFieldsTests {
  @Test func `names are compared without regard to case, but keep their spelling`() {
    let fields: HeaderFields = ["Content-Type": "text/html"]
    #expect(fields["content-TYPE"] == "text/html")
    #expect(fields.contains("CONTENT-TYPE"))
    #expect(fields.name(at: 0) == "Content-Type")
    #expect(fields["content-typ"] == nil && fields["content-type "] == nil && fields[""] == nil)
  }

  @Test func `case is ignored only for letters, and not for other characters of a name`() {
    let fields: HeaderFields = ["a@": "1", "a[": "2"]
    #expect(fields["A`"] == nil && fields["a{"] == nil)
    #expect(fields["A["] == "2")
  }

  @Test func `fields of one name keep their order and their places among the other fields`() {
    var fields: HeaderFields = ["a": "1", "b": "2", "A": "3", "c": "4"]
    #expect(fields[values: "A"] == ["1", "3"])
    #expect(fields["A"] == "1")
    fields["A"] = "5"
    #expect(fields.map(\.value) == ["5", "2", "4"])
    fields["d"] = "6"
    #expect(fields.map(\.name) == ["A", "b", "c", "d"])
  }

  @Test func `removing a name removes every field with this name and no other`() {
    var fields: HeaderFields = ["a": "1", "b": "2", "A": "3", "ab": "4"]
    fields["a"] = nil
    fields.remove("nothing")
    #expect(fields.map(\.name) == ["b", "ab"])
    fields.remove(at: 0)
    #expect(fields.map(\.value) == ["4"])
    fields.removeAll()
    #expect(fields.isEmpty && fields == HeaderFields() && fields.lineByteCount == 0)
  }

  @Test func `if many fields are removed, the other fields keep their order and marks, without gaps between them`() {
    var fields = HeaderFields()
    var kept = HeaderFields()
    for number in 0..<30_000 {
      fields.append(number.isMultiple(of: 100) ? "b" : "A", "\(number)")
      guard number.isMultiple(of: 100) else { continue }
      fields.mark(at: number, .sensitive)
      kept.append("b", "\(number)")
    }
    fields["a"] = nil
    #expect(fields == kept)
    #expect(fields.hasSameLines(as: kept))
    #expect(fields.indices.allSatisfy { fields.marks(at: $0) == .sensitive })
  }

  @Test func `if a name is removed from a given position onward, earlier fields of this name remain`() {
    var fields: HeaderFields = ["a": "1", "b": "2", "A": "3", "c": "4"]
    fields.append("a", "5")
    fields.remove(named: "a".utf8.span, from: 1)
    #expect(fields.map(\.value) == ["1", "2", "4"])
    fields.remove(named: "a".utf8.span, from: 1)
    #expect(fields.count == 3)
  }

  @Test func `a change of a copy does not change the original, with or without free room in the buffer`() {
    for (fieldCapacity, byteCapacity) in [(0, 0), (2, 1_000), (40, 20), (40, 1_000)] {
      var original = HeaderFields(fieldCapacity: fieldCapacity, byteCapacity: byteCapacity)
      original.append("a", "1", marks: .sensitive)
      original.append("b", "2")
      let lines = Array(original.buffer[original.lineOffset...])
      var copy = original
      for number in 0..<100 { copy.append("c", "\(number)", marks: .addedByStage) }
      copy.mark(at: 1, .forProxy)
      copy["a"] = "changed"
      #expect(copy.count == 102 && copy.value(at: 101) == "99" && copy.marks(at: 101) == .addedByStage)
      #expect(copy.marks(at: 1) == .forProxy && copy.value(at: 0) == "changed")
      #expect(original == ["a": "1", "b": "2"])
      #expect(original.indices.map { original.marks(at: $0) } == [.sensitive, []])
      #expect(original.buffer[original.lineOffset...].elementsEqual(lines))
    }
  }

  @Test func `a value of the same length replaces the old one in place`() {
    var fields: HeaderFields = ["a": "1", "x-key": "old", "b": "2"]
    fields.append("X-Key", "more")
    let copy = fields
    fields.set("X-KEY".utf8.span, to: "new".utf8.span, marks: .sensitive)
    #expect(fields.map { "\($0.name): \($0.value)" } == ["a: 1", "X-KEY: new", "b: 2"])
    #expect(fields.marks(at: 1) == .sensitive && fields.marks(at: 0) == [])
    #expect(fields.buffer[fields.lineOffset...].starts(with: "a: 1\0\nX-KEY: new\0\nb: 2\0\n".utf8))
    #expect(copy.map { "\($0.name): \($0.value)" } == ["a: 1", "x-key: old", "b: 2", "X-Key: more"])
    #expect(copy.marks(at: 1) == [])
    var added = copy
    added["x-key"] = "new"
    added.markAdded(since: copy)
    #expect(added.indices.map { added.marks(at: $0) } == [[], .addedByStage, []])
  }

  @Test func `if a value was replaced in place, a second field that is equal to an original field is marked as added`()
  {
    let original: HeaderFields = ["a": "1", "b": "x"]
    var fields = original
    fields["b"] = "y"
    fields.append("A", "1")
    fields.markAdded(since: original)
    #expect(fields.indices.map { fields.marks(at: $0) } == [[], .addedByStage, .addedByStage])
  }

  @Test func `each field is a line in the buffer that ends in NUL and LF`() {
    var fields: HeaderFields = ["a": "1", "Empty": ""]
    fields["a"] = "22"
    for index in fields.indices {
      let line = fields.nameRange(at: index).lowerBound..<fields.valueRange(at: index).upperBound + 2
      let expected = "\(fields.name(at: index)): \(fields.value(at: index))\0\n"
      #expect(String(decoding: fields.buffer[line], as: UTF8.self) == expected)
    }
    #expect(fields.wireByteCount == "a: 22\r\nEmpty: \r\n".utf8.count)
  }

  @Test func `the value of the last field can be extended, even if another field was changed in the meantime`() {
    var fields: HeaderFields = ["a": "1"]
    fields.append("b", "2", marks: .sensitive)
    fields.continueLast(with: "3".utf8.span)
    #expect(fields == ["a": "1", "b": "2 3"])
    #expect(fields.buffer[fields.lineOffset...].elementsEqual("a: 1\0\nb: 2 3\0\n".utf8))
    fields["a"] = "4"
    let copy = fields
    fields.continueLast(with: "5".utf8.span)
    fields.append("c", "6")
    #expect(fields == ["a": "4", "b": "2 3 5", "c": "6"])
    #expect(copy == ["a": "4", "b": "2 3"])
    #expect(fields.marks(at: 1) == .sensitive)
    fields.append("d", "")
    fields.continueLast(with: "7".utf8.span)
    fields.continueLast(with: "".utf8.span)
    #expect(fields["d"] == "7" && fields.count == 4)
    var none = HeaderFields()
    none.continueLast(with: "x".utf8.span)
    #expect(none.isEmpty)
  }

  @Test func `a copy does not see later changes`() {
    var fields: HeaderFields = ["a": "1"]
    let copy = fields
    fields["a"] = "2"
    fields.append("b", "3")
    #expect(copy == ["a": "1"])
    #expect(fields == ["A": "2", "b": "3"])
  }

  @Test func `fields are equal only in the same order, and only the case of names is ignored`() {
    let fields: HeaderFields = ["a": "x", "b": "y"]
    #expect(fields == ["A": "x", "B": "y"])
    #expect(fields.hashValue == (["A": "x", "B": "y"] as HeaderFields).hashValue)
    #expect(fields != ["b": "y", "a": "x"])
    #expect(fields != ["a": "X", "b": "y"])
    #expect(fields != ["a": "x"])
  }

  @Test func `marks belong to one field and are removed with it`() {
    var fields = HeaderFields()
    fields.append("authorization", "secret", marks: .sensitive)
    fields.append("x-a", "1")
    fields.mark(at: 1, .addedByStage)
    fields.mark(at: 1, .sensitive)
    #expect(fields.marks(at: 0) == .sensitive)
    #expect(fields.marks(at: 1) == [.addedByStage, .sensitive])
    fields.remove(at: 0)
    #expect(fields.marks(at: 0) == [.addedByStage, .sensitive])
    fields["x-a"] = "2"
    #expect(fields.marks(at: 0) == [])
  }

  @Test func `a description does not contain the values of sensitive fields`() {
    var fields: HeaderFields = ["x-a": "1"]
    fields.append("authorization", "secret", marks: .sensitive)
    #expect(fields.description == "x-a: 1\nauthorization: REDACTED")
  }

  @Test func `a value that is not UTF-8 keeps its bytes`() {
    var fields = HeaderFields()
    let latin: [UInt8] = [0x63, 0xE9]
    fields.append("x".utf8.span, latin.span)
    #expect(Array(fields.buffer[fields.valueRange(at: 0)]) == latin)
    #expect(fields["x"] == "c\u{FFFD}")
  }

  @Test func `CR, LF and NUL are refused in names and values, and the error shows no control character`() throws {
    for bad in ["a\r\nb: c", "a\n", "\r", "a\0", "a\u{1}", "a\u{7F}", " a", "a ", "\ta", "a\t"] {
      #expect(throws: MessageError.self) { try (["x": bad] as HeaderFields).validate() }
      let error = #expect(throws: MessageError.self) { try ([bad: "x"] as HeaderFields).validate() }
      #expect(error?.code == .invalidHeader)
      #expect(error?.description.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } == true)
    }
    #expect(throws: MessageError.self) { try (["": "x"] as HeaderFields).validate() }
    try (["x": "", "y": "a\tb é", "!#$%&'*+-.^_`|~": "1"] as HeaderFields).validate()
  }

  @Test func `a copy with additional room is equal to the original, and changes independently`() {
    var fields: HeaderFields = ["a": "1", "b": "2", "c": "3"]
    fields.append("c", "4")
    fields.remove(named: "b".utf8.span)
    var copy = fields.withRoom(fields: 8, bytes: 512)
    #expect(copy == fields && copy.wireByteCount == fields.wireByteCount)
    let room = copy.buffer.capacity
    for number in 0..<8 { copy.append("added-\(number)", String(repeating: "x", count: 50)) }
    #expect(copy.buffer.capacity == room, "the added fields have not reallocated the buffer")
    #expect(fields.count == 3 && copy.count == 11 && copy["a"] == "1" && fields["added-0"] == nil)
    #expect(HeaderFields().withRoom(fields: 0, bytes: 0).isEmpty)
  }
}
