/// One of the two messages of an exchange.
public enum MessageSide: Sendable, Hashable {
  case request, response
}
