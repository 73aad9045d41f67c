import Glibc
import Sluice
import SluiceJSON
import SluiceTraceContext

/// Reads and writes baggage for programs in other languages. The answer to `{"read": "a=1;p"}` is the list of the
/// members of this baggage. The answer to `{"write": [ … ]}` with a list of members is the text of a header.
///
///     [{"key": "a", "value": "1", "properties": [{"key": "p", "value": null}]}]
enum BaggageLines {
  static func answer() {
    while let line = readLine() {
      defer { fflush(nil) }
      guard let question = try? JSONValue(parsing: Array(line.utf8)) else { return print("null") }
      if let text = question["read"]?.string {
        print(document(Baggage.members(of: text)))
      } else {
        print(document(JSONValue(Baggage.text(of: members(question["write"] ?? .array())))))
      }
    }
  }

  private static func document(_ members: [BaggageMember]) -> String {
    document(
      members.reduce(into: JSONValue.array()) { list, member in
        let properties = member.properties.reduce(into: JSONValue.array()) {
          $0.append(["key": JSONValue($1.key), "value": $1.value.map { JSONValue($0) } ?? .null])
        }
        list.append(["key": JSONValue(member.key), "value": JSONValue(member.value), "properties": properties])
      })
  }

  private static func document(_ value: JSONValue) -> String { (try? value.serializedText()) ?? "null" }

  private static func members(_ list: JSONValue) -> [BaggageMember] {
    list.elements.map { member in
      let properties = (member["properties"] ?? .array()).elements.map {
        BaggageMember.Property($0["key"]?.string ?? "", $0["value"]?.string)
      }
      return BaggageMember(member["key"]?.string ?? "", member["value"]?.string ?? "", properties: properties)
    }
  }
}
