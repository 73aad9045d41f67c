import SluiceJSON
import SluiceJSONSchema
import SluiceTestKit
import Testing

/// The schemas of `docs/schema`. Each can refer to the others by file name.
struct ShippedSchemas {
  let request: JSONSchema
  let response: JSONSchema
  let result: JSONSchema

  static let shared = Result { try ShippedSchemas() }

  private init() throws {
    var documents: [String: JSONValue] = [:]
    for name in ["message", "request", "response", "result"] {
      let text = try FileTree.read(RepositoryRoot.path("docs/schema/\(name).schema.json"))
      documents["schema:///\(name).schema.json"] = try JSONValue(parsing: text, options: .rejectDuplicates)
    }
    func schema(_ name: String) throws -> JSONSchema {
      try JSONSchema(#require(documents["schema:///\(name).schema.json"]), documents: documents)
    }
    request = try schema("request")
    response = try schema("response")
    result = try schema("result")
  }
}

/// Returns an example, after checking that the shipped schema allows it.
func request(_ text: String) throws -> JSONValue {
  let document = try JSONValue(parsing: text)
  try ShippedSchemas.shared.get().request.check(document)
  return document
}

func response(_ text: String) throws -> JSONValue {
  let document = try JSONValue(parsing: text)
  try ShippedSchemas.shared.get().response.check(document)
  return document
}
