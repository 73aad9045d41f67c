import SluiceMessages
import Testing

@testable import SluiceJSON

@Suite struct JSONTextTests {
  private func written(_ write: (inout JSONText) -> Void) -> String {
    var text = JSONText()
    text.object(nil, write)
    return String(decoding: text.bytes, as: UTF8.self)
  }

  @Test func `members are written with keys and separated by commas`() {
    let id = TransactionID(high: 0x0123_4567_89AB_CDEF, low: .max)
    let text = written { line in
      line.text("a", "b")
      line.text("id", id)
      line.object("c") { $0.flag("d", true) }
      line.array("e") { list in
        list.number(nil, 1)
        list.text(nil, "")
      }
    }
    #expect(text == #"{"a":"b","id":"\#(id)","c":{"d":true},"e":[1,""]}"#)
  }

  @Test func `a character that needs an escape is escaped at any place, even in a key`() {
    for (character, escaped) in [
      ("\"", #"\""#), ("\\", #"\\"#), ("\u{0}", #"\u0000"#), ("\n", #"\n"#), ("\u{1F}", #"\u001F"#),
      ("\u{7F}", "\u{7F}"), (" ", " "), ("ä", "ä"), ("\u{80}", "\u{80}"), ("😀", "😀"), ("~", "~"), ("!", "!"),
    ] {
      for before in 0...17 {
        for after in [0, 1, 7, 8, 9] {
          let (start, end) = (String(repeating: "x", count: before), String(repeating: "y", count: after))
          let text = written { $0.text(start + character + end, start + character + end) }
          let quoted = "\"\(start)\(escaped)\(end)\""
          #expect(Array(text.utf8) == Array("{\(quoted):\(quoted)}".utf8), "\(before), \(after)")
        }
      }
    }
  }

  @Test func `integers are written with all digits`() {
    for number in [0, 9, 10, 1_000_000, -1, .max, .min] {
      #expect(written { $0.number("n", number) } == "{\"n\":\(number)}")
    }
    #expect(written { $0.number("n", UInt64.max) } == "{\"n\":18446744073709551615}")
    #expect(written { $0.number("n", Int64.min) } == "{\"n\":-9223372036854775808}")
    #expect(written { $0.real("n", 1.5) } == "{\"n\":1.5}")
  }
}
