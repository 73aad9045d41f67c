import SluiceClient

/// A request with its own limits.
func urgentRequest(_ url: HTTPURL) -> Request {
  var request = Request(url: url, timeout: .seconds(20))
  request.options.idleTimeout = .seconds(5)
  request.options.maximumRedirects = 0
  request.options.priority = .high
  return request
}
