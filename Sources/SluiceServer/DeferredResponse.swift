/// The right to answer one parked request, once.
public struct DeferredResponse: Sendable {
  let parking: ConnectionParking
  let ticket: ConnectionParking.Ticket

  /// Sends the response. False, and nothing happens, when the request was answered before or the server stopped.
  /// A deferred response is not accepted in turn: the connection is closed.
  @discardableResult
  public func complete(with response: ServerResponse) -> Bool {
    parking.release(ticket, with: response)
  }
}
