import SluiceMessages
import SluicePipeline

extension Configuration {
  mutating func readRedirects(_ node: ConfigurationNode) throws(ConfigurationError) {
    try node.checkObject(["max", "keep"])
    if let maximum = node["max"] { redirects.maximum = try maximum.integer(0...1000) }
    guard let kept = node["keep"] else { return }
    redirects.kept = []
    for element in try kept.elements() { redirects.kept.append(try element.fieldName().lowercased()) }
  }
}
