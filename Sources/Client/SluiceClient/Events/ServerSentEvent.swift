/// An event of an event stream (WHATWG HTML §9.2).
public struct ServerSentEvent: Sendable, Hashable {
  /// The name that the stream gave the event; `message` if it gave none.
  public var type: String
  /// The lines of `data`, joined by LF.
  public var data: String
  /// The last id that the stream has set, with this event or an earlier one; empty if it has set none. Send it as
  /// `Last-Event-ID` when you connect again.
  public var lastEventID: String
  /// The last reconnection time that the stream has set; nil if it has set none.
  public var reconnectionTime: Duration?
}
