import OTLPRules
import SluiceJSON
import SluiceMessages

extension [Attribute] {
  subscript(_ key: String) -> AttributeValue? { first { $0.name == key }?.value }
}
