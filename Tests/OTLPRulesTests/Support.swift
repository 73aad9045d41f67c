import OTLPRules
import SluiceJSON

extension [KeyValue] {
  subscript(_ key: String) -> KeyValue.Value? { first { $0.key == key }?.value }
}
