import Glibc
import SluiceJSON
import SluiceMessages

// `{"env": "NAME"}` and `{"file": "PATH"}`: how a configuration uses a secret without containing it.
extension ConfigurationNode {
  /// The value itself, or the value of its reference. The text of a file loses its last line end.
  func resolvingReference() throws(ConfigurationError) -> JSONValue {
    guard value.isObject, value.count == 1 else { return value }
    if let name = value["env"]?.string { return JSONValue(try environmentVariable(name)) }
    if let path = value["file"]?.string { return JSONValue(try text(ofFile: source.resolve(path))) }
    return value
  }

  /// A copy in which every reference is replaced, at any depth.
  func resolvingAllReferences() throws(ConfigurationError) -> JSONValue {
    if value.isArray {
      let array = JSONValue.array()
      for element in try elements() { array.append(try element.resolvingAllReferences()) }
      return array
    }
    guard value.isObject else { return value }
    let resolved = try resolvingReference()
    guard resolved === value else { return resolved }
    let object = JSONValue.object()
    for (key, node) in try members() { object.set(try node.resolvingAllReferences(), forKey: key) }
    return object
  }

  private func environmentVariable(_ name: String) throws(ConfigurationError) -> String {
    guard let text = getenv(name) else {
      throw error(
        "the environment variable \(PlainText.quote(name)) is not set", advice: "set it, or give the value another way")
    }
    return String(cString: text)
  }

  private func text(ofFile path: String) throws(ConfigurationError) -> String {
    let bytes: [UInt8]
    do { bytes = try FileText.read(path, limitBytes: 1 << 20) } catch {
      throw self.error("cannot read \(PlainText.path(path)): \(error)")
    }
    guard var text = String(validating: bytes.withoutByteOrderMark, as: UTF8.self), !text.utf8.contains(0) else {
      throw error("\(PlainText.path(path)) is not UTF-8 text")
    }
    if text.hasSuffix("\r\n") || text.hasSuffix("\n") { text.removeLast() }
    return text
  }
}
