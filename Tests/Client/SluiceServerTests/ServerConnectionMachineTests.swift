import Testing

@testable import SluiceServer

/// What a connection of a server does, event by event.
@Suite struct ServerConnectionMachineTests {
  private typealias Machine = ServerConnectionMachine
  private typealias Actions = ServerConnectionMachine.Actions

  /// A machine after these events.
  private static func machine(_ events: Machine.Event...) -> Machine {
    var machine = Machine()
    for event in events { _ = machine.handle(event) }
    return machine
  }

  private static let get = Machine.Event.head(Machine.Head())
  private static let post = Machine.Event.head(Machine.Head(hasBody: true))
  private static let begin = Machine.Event.responseBegan(closes: false)

  @Test func `one request follows the other`() {
    var machine = Machine()
    for _ in 1...2 {
      #expect(machine.input == .idle && machine.wantsInput(hasOutput: false))
      #expect(machine.handle(.arrived) == [] && machine.input == .head)
      #expect(machine.handle(Self.get) == .begin && machine.input == .complete && machine.output == .awaited)
      #expect(!machine.wantsInput(hasOutput: false))
      #expect(machine.handle(Self.begin) == [] && machine.persists)
      #expect(machine.handle(.responseEnded) == .next && machine.output == .none)
    }
  }

  @Test func `a body can end before and after the response`() {
    var before = Self.machine(.arrived, Self.post)
    #expect(before.handle(.bodyEnded) == [])
    #expect(before.handle(Self.begin) == [])
    #expect(before.handle(.responseEnded) == .next)
    var after = Self.machine(.arrived, Self.post, Self.begin)
    #expect(after.handle(.responseEnded) == [] && after.input == .dropping)
    #expect(after.handle(.dropped(Machine.mostDropped)) == [])
    #expect(after.handle(.bodyEnded) == .next && after.input == .idle)
  }

  @Test func `a long rest of a body is not dropped, but ends the connection`() {
    var machine = Self.machine(.arrived, Self.post, Self.begin, .responseEnded)
    #expect(machine.handle(.dropped(Machine.mostDropped + 1)) == .linger && machine.input == .ended)
    #expect(machine.handle(.inputEnded) == .close && machine.isClosed)
  }

  @Test func `a client that asks first gets 100 only if the body is wanted`() {
    let head = Machine.Event.head(Machine.Head(hasBody: true, expectsContinue: true))
    var wanted = Self.machine(.arrived, head)
    #expect(wanted.wait(hasOutput: false, isPaused: false) == .handler)
    #expect(wanted.handle(.wantsBody) == .sendContinue)
    #expect(wanted.handle(.wantsBody) == [])
    #expect(wanted.wait(hasOutput: false, isPaused: false) == .body)
    // The client can send the body all the same, or the next request.
    var unwanted = Self.machine(.arrived, head, Self.begin)
    #expect(!unwanted.persists && unwanted.wait(hasOutput: false, isPaused: false) == .body)
    #expect(unwanted.handle(.responseEnded) == .linger)
  }

  @Test func `a connection ends after a response if one side wants it`() {
    var client = Self.machine(.arrived, .head(Machine.Head(endsConnection: true)), Self.begin)
    #expect(!client.persists && client.handle(.responseEnded) == .linger)
    var server = Self.machine(.arrived, Self.get, .responseBegan(closes: true))
    #expect(!server.persists && server.handle(.responseEnded) == .linger)
  }

  @Test func `a request that is not valid is refused, and the connection ends`() {
    var head = Self.machine(.arrived)
    #expect(head.handle(.refused(414)) == .refuse && head.refusal == 414 && !head.persists)
    #expect(head.handle(.responseEnded) == .linger)
    var body = Self.machine(.arrived, Self.post)
    #expect(body.handle(.bodyRefused(400)) == [.cancel, .refuse] && body.refusal == 400)
    var late = Self.machine(.arrived, Self.post, Self.begin)
    #expect(late.handle(.bodyRefused(400)) == [.cancel, .abort] && late.isClosed)
    var dropped = Self.machine(.arrived, Self.post, Self.begin, .responseEnded)
    #expect(dropped.handle(.bodyRefused(400)) == .linger)
  }

  @Test(
    arguments: [
      ([], .close), ([.arrived], .close), ([.arrived, Self.post], [.cancel, .close]),
      ([.arrived, Self.post, Self.begin], [.cancel, .abort]), ([.arrived, Self.get], .tellHalfClosed),
      ([.arrived, Self.get, Self.begin], .tellHalfClosed), ([.arrived, .refused(400)], []),
      ([.arrived, Self.post, Self.begin, .responseEnded], .linger),
    ] as [([ServerConnectionMachine.Event], ServerConnectionMachine.Actions)])
  func `the client closes its side`(
    _ events: [ServerConnectionMachine.Event], _ expected: ServerConnectionMachine.Actions
  ) {
    var machine = Machine()
    for event in events { _ = machine.handle(event) }
    #expect(machine.handle(.inputEnded) == expected)
  }

  @Test func `a client that has closed its side gets its response, and the connection ends`() {
    var machine = Self.machine(.arrived, Self.get, .inputEnded, Self.begin)
    #expect(!machine.persists && machine.handle(.responseEnded) == .linger)
    #expect(machine.handle(.inputEnded) == .close)
  }

  @Test(
    arguments: [
      ([], .close), ([.arrived], .close), ([.arrived, Self.get], [.cancel, .close]),
      ([.arrived, Self.post, Self.begin], [.cancel, .abort]),
      ([.arrived, Self.post, Self.begin, .responseEnded], .close),
    ] as [([ServerConnectionMachine.Event], ServerConnectionMachine.Actions)])
  func `the connection breaks`(_ events: [ServerConnectionMachine.Event], _ expected: ServerConnectionMachine.Actions) {
    var machine = Machine()
    for event in events { _ = machine.handle(event) }
    #expect(machine.handle(.broken) == expected && machine.isClosed)
    for event in [Machine.Event.arrived, Self.get, .responseEnded, .broken, .timeout] {
      #expect(machine.handle(event) == [])
    }
  }

  @Test func `a response that cannot be completed is cut off`() {
    var machine = Self.machine(.arrived, Self.get, Self.begin)
    #expect(machine.handle(.responseFailed) == .abort && machine.isClosed)
  }

  @Test func `each wait has its own end`() {
    var idle = Machine()
    #expect(idle.wait(hasOutput: false, isPaused: false) == .idle && idle.handle(.timeout, .idle) == .close)
    var head = Self.machine(.arrived)
    #expect(head.wait(hasOutput: false, isPaused: false) == .head)
    #expect(head.handle(.timeout, .head) == .refuse && head.refusal == 408)
    var body = Self.machine(.arrived, Self.post)
    #expect(
      body.wait(hasOutput: false, isPaused: true) == .handler && body.wait(hasOutput: false, isPaused: false) == .body)
    #expect(body.handle(.timeout, .body) == [.cancel, .refuse] && body.refusal == 408)
    var late = Self.machine(.arrived, Self.post, Self.begin)
    #expect(late.handle(.timeout, .body) == [.cancel, .abort])
    var rest = Self.machine(.arrived, Self.post, Self.begin, .responseEnded)
    #expect(rest.wait(hasOutput: false, isPaused: false) == .body && rest.handle(.timeout, .body) == .linger)
    var output = Self.machine(.arrived, Self.get, Self.begin)
    #expect(output.wait(hasOutput: true, isPaused: false) == .output)
    #expect(output.handle(.timeout, .output) == [.cancel, .abort])
    var handler = Self.machine(.arrived, Self.get)
    #expect(handler.wait(hasOutput: false, isPaused: false) == .handler && handler.handle(.timeout, .handler) == [])
    var lingering = Self.machine(.arrived, .head(Machine.Head(endsConnection: true)), Self.begin, .responseEnded)
    #expect(lingering.wait(hasOutput: false, isPaused: false) == .linger)
    #expect(lingering.handle(.timeout, .linger) == .close)
  }

  @Test func `a server that ends closes idle connections, and the others after their response`() {
    var idle = Machine()
    #expect(idle.handle(.drain(hasOutput: false)) == .close)
    var unsent = Machine()
    #expect(unsent.handle(.drain(hasOutput: true)) == .linger && !unsent.isClosed)
    var busy = Self.machine(.arrived, Self.get, .drain(hasOutput: false), Self.begin)
    #expect(!busy.persists && busy.handle(.responseEnded) == .linger)
    var dropping = Self.machine(.arrived, Self.post, Self.begin, .responseEnded)
    #expect(dropping.handle(.drain(hasOutput: false)) == .linger)
    var begun = Self.machine(.arrived, .drain(hasOutput: false), Self.get, Self.begin)
    #expect(!begun.persists && begun.handle(.responseEnded) == .linger)
  }

  @Test func `while a response is not sent, no further request is read`() {
    let machine = Self.machine(.arrived, Self.get, Self.begin, .responseEnded)
    #expect(machine.input == .idle && !machine.wantsInput(hasOutput: true) && machine.wantsInput(hasOutput: false))
  }
}
