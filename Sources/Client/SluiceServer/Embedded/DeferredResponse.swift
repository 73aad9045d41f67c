/// The right to answer one parked request, once.
public struct DeferredResponse: Sendable {
  let parking: ConnectionParking
  let ticket: ConnectionParking.Ticket

  /// Sends the response. Returns false and does nothing if the request was answered before, or the server has stopped.
  /// If the response is also a deferred one, the connection is closed.
  @discardableResult
  public func complete(with response: ServerResponse) -> Bool {
    parking.release(ticket, with: response)
  }
}
