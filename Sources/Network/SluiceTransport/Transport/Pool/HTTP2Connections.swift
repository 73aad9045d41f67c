// The HTTP/2 connections of a pool on which the server takes new requests.
extension [HTTP2Connection] {
  /// The connection that has the most streams and still has room.
  var fullestWithRoom: HTTP2Connection? {
    var found: HTTP2Connection?
    for connection in self where connection.room > 0 {
      if let other = found, other.openStreams >= connection.openStreams { continue }
      found = connection
    }
    return found
  }

  var survey: PoolMachine.Survey {
    var survey = PoolMachine.Survey()
    for connection in self {
      survey.connections += 1
      if connection.streamLimit == 0 { survey.withoutStreams += 1 }
      if connection.refusals.isRefusing { survey.refusing += 1 }
      if connection.isTrying, !connection.isDoubted { survey.isTrying = true }
    }
    return survey
  }
}
