import SluiceJSON
import SluiceJSONSchema
import SluiceMessages
import SluicePipeline

extension Configuration {
  mutating func readValidation(_ node: ConfigurationNode) throws(ConfigurationError) {
    try node.checkObject(["statuses", "extract", "payloadSchema"])
    if let statuses = node["statuses"] { acceptedStatuses = try statuses.statuses() }
    if let form = node["extract"] { extract = try form.word(PayloadForm.self) }
    guard let schema = node["payloadSchema"] else { return }
    guard node["extract"] == nil || extract == .json else {
      throw schema.error(
        "a schema is for JSON, and \"extract\" is \"\(extract)\"", advice: "set \"extract\" to \"json\"")
    }
    extract = .json
    payloadSchema = try schema.schema()
  }
}

extension ConfigurationNode {
  /// A JSON Schema in a file.
  fileprivate func schema() throws(ConfigurationError) -> JSONSchema {
    let path = try path()
    let text: [UInt8]
    do { text = try FileText.read(path, limitBytes: Configuration.limitBytes) } catch {
      throw self.error("cannot read \(PlainText.path(path)): \(error)")
    }
    do { return try JSONSchema(JSONValue(parsing: text.withoutByteOrderMark, options: .rejectDuplicates)) } catch {
      throw self.error("\(PlainText.path(path)) is not a JSON Schema: \(error)")
    }
  }
}
