import SluiceMessages
import OTLPRules
import SluiceJSON

extension [Attribute] {
  subscript(_ key: String) -> AttributeValue? { first { $0.name == key }?.value }
}
