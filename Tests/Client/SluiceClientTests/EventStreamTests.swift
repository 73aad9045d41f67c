import SluiceMessages
import SluicePipeline
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceClient

/// The interpretation of event streams. The examples are from WHATWG HTML §9.2.6.
@Suite struct EventStreamTests {
  private static func events(_ text: String, maximumBytes: Int = 1000) throws -> [ServerSentEvent] {
    var splitter = LineSplitter(maximumBytes: maximumBytes)
    var parser = EventStreamParser(maximumBytes: maximumBytes)
    splitter.append(Array(text.utf8))
    var events: [ServerSentEvent] = []
    while let line = try splitter.nextLine() { if let event = try parser.take(line) { events.append(event) } }
    return events
  }

  @Test func `the data lines of an event are joined`() throws {
    #expect(try Self.events("data: YHOO\ndata: +2\ndata: 10\n\n").map(\.data) == ["YHOO\n+2\n10"])
  }

  @Test func `ids are kept until the next one, and comments are ignored`() throws {
    let events = try Self.events(
      ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n")
    #expect(events.map(\.data) == ["first event", "second event"])
    #expect(events.map(\.lastEventID) == ["1", ""])
  }

  @Test func `an event with an empty data line is delivered, and an unfinished one is not`() throws {
    #expect(try Self.events("data\n\ndata\ndata\n\ndata:").map(\.data) == ["", "\n"])
  }

  @Test(arguments: [
    "event: done\ndata:\n\n", "event: done\ndata\n\n", "data: \nevent: done\n\n", "data:\r\revent:done\rdata\r\r",
  ])
  func `an event whose data is empty has its type`(_ text: String) throws {
    let event = try #require(try Self.events(text).last)
    #expect(event.type == "done" && event.data.isEmpty)
  }

  @Test func `an event without a data line is dropped, but its id and its reconnection time stay`() throws {
    let events = try Self.events("event: x\nid: 7\nretry: 5\n\n: comment\n\ndata:\ndata: \n\ndata: 1\n\n")
    #expect(events.map(\.type) == ["message", "message"] && events.map(\.data) == ["\n", "1"])
    #expect(
      events.map(\.lastEventID) == ["7", "7"] && events.map(\.reconnectionTime) == [.milliseconds(5), .milliseconds(5)])
  }

  @Test func `line feeds at the end of the data are kept, except for the last`() throws {
    #expect(try Self.events("data: a\ndata\ndata:\n\ndata\ndata: a\n\n").map(\.data) == ["a\n\n", "\na"])
  }

  @Test func `one space after the colon is not part of the value`() throws {
    #expect(try Self.events("data:test\n\ndata: test\n\ndata:  test\n\n").map(\.data) == ["test", "test", " test"])
  }

  @Test func `an event type applies to one event`() throws {
    let events = try Self.events("event: add\ndata: 7\n\nevent: x\n\ndata: 8\n\n")
    #expect(events.map(\.type) == ["add", "message"])
  }

  @Test func `only digits set the reconnection time, and an id with NUL is ignored`() throws {
    let events = try Self.events(
      "retry: 1500\nid: a\ndata: 1\n\nretry: 1x\nid: b\0\ndata: 2\n\nretry: 99999999999999999999\ndata: 3\n\n")
    #expect(events.map(\.reconnectionTime) == [.milliseconds(1500), .milliseconds(1500), .milliseconds(1500)])
    #expect(events.map(\.lastEventID) == ["a", "a", "a"])
  }

  @Test func `a byte order mark is skipped only at the beginning of the stream`() throws {
    #expect(try Self.events("\u{FEFF}data: 1\n\n\u{FEFF}data: 2\n\n").map(\.data) == ["1"])
  }

  @Test func `unknown fields are ignored`() throws {
    #expect(try Self.events("Data: 1\nfoo: bar\ndata: 2\r\r").map(\.data) == ["2"])
  }

  @Test func `an event that is too large is an error`() throws {
    #expect(throws: EventStreamParser.TooLarge.self) {
      try Self.events(String(repeating: "data: 12345\n", count: 3) + "\n", maximumBytes: 12)
    }
  }

  @Test func `events arrive one by one, and an unfinished event is not delivered`() async throws {
    let more = Signal()
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n"), .wait(more),
      .send("data: 2\r\n\r\ndata: 3\n"), .close)
    defer { server.stop() }
    try await withClient { client in
      var data: [String] = []
      for try await event in try await client.bytes(from: server.url()).bytes.events {
        data.append(event.data)
        more.set()
      }
      #expect(data == ["1", "2"])
    }
  }
}
