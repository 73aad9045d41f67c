/// Which message of an exchange.
public enum MessageSide: Sendable, Hashable {
  case request, response
}
