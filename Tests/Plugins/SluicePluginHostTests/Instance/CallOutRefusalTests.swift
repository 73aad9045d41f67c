import SluiceMessages
import SluicePipeline
import Testing

@testable import SluicePluginHost

/// Call-outs that a host refuses. `SluiceTests` tests accepted call-outs over real sockets.
struct CallOutRefusalTests {
  @Test func `a call-out from create is refused and counted, but a call-out from activate is sent`() async throws {
    let stage = try await StageFixture("calls-in-create", defines: ["ACTIVATE=SLUICE_STATUS_OK"])
    #expect(stage.told("in-create") == ["-2"])
    #expect(stage.instance.violations[.earlyCallOut] == 1)
    #expect(stage.told("in-activate") == ["0"])
  }

  @Test func `a call-out with an invalid request is refused and counted`() async throws {
    let stage = try await StageFixture("calls-in-create", defines: ["ACTIVATE=SLUICE_STATUS_OK"])
    for name in ["no-url", "other-scheme", "line-break", "short-options", "no-request", "no-completion"] {
      #expect(stage.told(name) == ["-1"], "\(name)")
    }
    #expect(stage.instance.violations[.invalidDocument] == 3)
    #expect(stage.instance.violations[.invalidArgument] == 3)
  }

  @Test func `a trial sends no call-out`() async throws {
    let stage = try await StageFixture("calls-in-create", defines: ["ACTIVATE=SLUICE_STATUS_OK"], isTrial: true)
    #expect(stage.told("in-create") == ["-2"])
    #expect(stage.told("in-activate") == ["-2"])
    #expect(stage.instance.violations.total == 0)
  }
}
