import SluiceMessages
import Testing

@testable import SluiceAttachRules

/// The changes that request stages make to the headers of a transfer, applied to the headers of each hop.
@Suite struct HeaderChangesTests {
  private static func applied(_ changes: HeaderChanges, to fields: HeaderFields) -> HeaderFields {
    var fields = fields
    changes.apply(to: &fields)
    return fields
  }

  @Test func `additions, removals and new values are applied to a hop with the same headers`() {
    let changes = HeaderChanges(from: ["A": "1", "B": "2"], to: ["B": "3", "C": "4"])
    #expect(Self.applied(changes, to: ["A": "1", "B": "2"]) == ["B": "3", "C": "4"])
  }

  @Test func `without changes, the fields stay as they are`() {
    let fields: HeaderFields = ["A": "1", "a": "1"]
    #expect(Self.applied(HeaderChanges(from: fields, to: fields), to: ["B": "2"]) == ["B": "2"])
    #expect(Self.applied(HeaderChanges(), to: fields) == fields)
  }

  @Test func `names are compared without case, values byte by byte`() {
    let changes = HeaderChanges(from: ["X-A": "v"], to: [:])
    #expect(Self.applied(changes, to: ["x-a": "v"]) == [:])
    #expect(Self.applied(changes, to: ["x-a": "V"]) == ["x-a": "V"])
  }

  @Test func `if a field is repeated, only the copies that a stage removed are removed`() {
    let changes = HeaderChanges(from: ["X": "1", "X": "1", "X": "2"], to: ["X": "1", "X": "2"])
    #expect(Self.applied(changes, to: ["X": "1", "X": "1", "X": "2"]) == ["X": "1", "X": "2"])
  }

  @Test func `a value that the program set in the meantime is kept`() {
    let changes = HeaderChanges(from: ["A": "1"], to: ["A": "2"])
    #expect(Self.applied(changes, to: ["A": "7"]) == ["A": "7", "A": "2"])
  }

  @Test func `at another origin, neither the headers that a stage added nor those that it removed are sent`() {
    var changes = HeaderChanges(from: ["A": "1"], to: ["Token": "t"])
    changes.leaveOrigin()
    #expect(Self.applied(changes, to: ["A": "1", "B": "2"]) == ["B": "2"])
  }
}
