import SluiceJSON
import SluiceMessages

/// What the options of a run give to each request that its line does not have: a method and header fields.
struct RunDefaults: Sendable {
  private let method: String?
  private let fields: GivenFields

  /// Checks the method and the fields with a request to no particular host.
  init(_ arguments: ParsedArguments) throws(CommandError) {
    method = arguments["request"]
    fields = try GivenFields(arguments.allBytes("header"))
    do throws(MessageError) {
      var request = Request(method: method ?? "GET", url: "http://localhost/")
      fields.apply(to: &request)
      try request.validate()
    } catch { throw CommandError(.usage, "run: \(error)") }
  }

  var isEmpty: Bool { method == nil && fields.fields.isEmpty }

  /// Adds the method to a document that has none.
  func complete(_ document: JSONValue) {
    if let method, document.isObject, document["method"] == nil { document["method"] = JSONValue(method) }
  }

  /// Adds the fields that the request does not have, and removes default fields.
  func complete(_ request: inout Request) throws(MessageError) {
    guard !fields.fields.isEmpty else { return }
    fields.apply(to: &request, keepsOwn: true)
    try request.validate()
  }
}
