import OTLPRules
import SluiceMessages
import Testing

/// The facts of a hop follow OpenTelemetry's conventions for HTTP client spans and metrics.
@Suite struct HopFactsTests {
  private let secrets = Redactor(query: ["token"])

  private func facts(
    _ method: String = "GET", _ url: String = "https://api.example.com/v1/items", status: Int? = 200
  ) -> HopFacts {
    HopFacts(method: method, url: url, status: status)
  }

  @Test func `a response has method, server, URL and status, and nothing else`() {
    let attributes = facts().spanAttributes(hiding: secrets)
    #expect(
      attributes == [
        Attribute("http.request.method", "GET"), Attribute("server.address", "api.example.com"),
        Attribute("server.port", .integer(443)), Attribute("url.full", "https://api.example.com/v1/items"),
        Attribute("http.response.status_code", .integer(200)),
      ])
    #expect(facts().name() == "GET")
    #expect(facts().spanStatus == .unset)
  }

  @Test(arguments: [
    ("http://h/", "h", 80), ("https://H:8443/a", "h", 8443), ("http://[::1]:8080/", "::1", 8080),
  ]) func `the server is the host of the URL, with the URL's port or the default port of the scheme`(
    _ url: String, _ host: String, _ port: Int64
  ) {
    let attributes = facts("GET", url).spanAttributes(hiding: secrets)
    #expect(attributes["server.address"] == .text(host))
    #expect(attributes["server.port"] == .integer(port))
  }

  @Test func `the URL is shown without user, password, signatures and fragment`() {
    let url = "https://u:S3CRET@api.example.com/a?sig=S3CRET&b=c&TOKEN=S3CRET#S3CRET"
    #expect(
      facts("GET", url).spanAttributes(hiding: secrets)["url.full"]
        == .text("https://REDACTED:REDACTED@api.example.com/a?sig=REDACTED&b=c&TOKEN=REDACTED"))
  }

  @Test(arguments: ["PURGE", "get", "Post"]) func `an unknown method is _OTHER, with the original in another attribute`(
    _ method: String
  ) {
    let attributes = facts(method).spanAttributes(hiding: secrets)
    #expect(attributes["http.request.method"] == .text("_OTHER"))
    #expect(attributes["http.request.method_original"] == .text(method))
    #expect(facts(method).name() == "HTTP")
    #expect(facts(method).name(knownMethods: [method]) == method)
    #expect(facts(method).metricAttributes()["http.request.method_original"] == nil)
  }

  @Test(arguments: [100, 204, 302, 304, 399]) func `a status below 400 leaves the span status unset`(_ status: Int) {
    #expect(facts(status: status).spanStatus == .unset)
    #expect(facts(status: status).errorType == nil)
  }

  @Test(arguments: [400, 404, 499, 500, 503, 999]) func `a status of 400 or more is an error without a description`(
    _ status: Int
  ) {
    #expect(facts(status: status).spanStatus == ExportedSpan.Status(code: .error, message: ""))
    #expect(facts(status: status).spanAttributes(hiding: secrets)["error.type"] == .text("\(status)"))
  }

  @Test func `the code of a failure is the error type, and its message is the description`() {
    let facts = HopFacts(method: "GET", url: "http://h/", errorCode: "connect", errorMessage: "refused")
    #expect(facts.spanStatus == ExportedSpan.Status(code: .error, message: "refused"))
    #expect(facts.spanAttributes(hiding: secrets)["error.type"] == .text("connect"))
    #expect(facts.spanAttributes(hiding: secrets)["http.response.status_code"] == nil)
  }

  @Test func `an incomplete body is an error, and the status code is kept`() {
    let facts = HopFacts(method: "GET", url: "http://h/", status: 200, errorCode: "connection_lost", errorMessage: "m")
    #expect(facts.spanStatus.code == .error)
    #expect(facts.spanAttributes(hiding: secrets)["error.type"] == .text("connection_lost"))
    #expect(facts.spanAttributes(hiding: secrets)["http.response.status_code"] == .integer(200))
  }

  @Test func `the first request has no resend count, and each later request has one`() {
    var facts = facts()
    #expect(facts.spanAttributes(hiding: secrets)["http.request.resend_count"] == nil)
    facts.resendCount = 2
    #expect(facts.spanAttributes(hiding: secrets)["http.request.resend_count"] == .integer(2))
  }

  @Test func `known facts of the connection are exported`() {
    var facts = facts()
    (facts.protocolVersion, facts.peerAddress, facts.peerPort) = ("2", "192.0.2.1", 8443)
    let attributes = facts.spanAttributes(hiding: secrets)
    #expect(attributes["network.protocol.version"] == .text("2"))
    #expect(attributes["network.peer.address"] == .text("192.0.2.1"))
    #expect(attributes["network.peer.port"] == .integer(8443))
  }

  @Test func `the attributes of durations have few values`() {
    var facts = HopFacts(method: "GET", url: "http://h/a?b", status: 500)
    (facts.protocolVersion, facts.peerAddress, facts.resendCount) = ("1.1", "192.0.2.1", 3)
    #expect(
      Set(facts.metricAttributes().map(\.name)) == [
        "http.request.method", "server.address", "server.port", "http.response.status_code", "error.type",
        "network.protocol.version",
      ])
  }

  @Test func `a malformed URL has no server, and is still shown`() {
    let attributes = facts("GET", "none").spanAttributes(hiding: secrets)
    #expect(attributes["server.address"] == nil && attributes["url.full"] == .text("none"))
  }
}
