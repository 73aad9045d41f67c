import SluiceClient

/// A request with limits of its own.
func urgentRequest(_ url: HTTPURL) -> Request {
  var request = Request(url: url, timeout: .seconds(20))
  request.options.idleTimeout = .seconds(5)
  request.options.maximumRedirects = 0
  request.options.priority = .high
  return request
}
