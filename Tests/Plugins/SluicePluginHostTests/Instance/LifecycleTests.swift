import SluiceJSON
import SluiceMessages
import SluicePipeline
import SluiceTestPipeline
import Testing

@testable import SluicePluginHost

/// The calls of create, activate, deactivate and destroy.
struct LifecycleTests {
  private func calls(_ stage: StageFixture) -> [CInt] { stage.numbers("fixture.calls", count: 4) }

  @Test func `destroy is called once, after deactivate`() async throws {
    let stage = try await StageFixture("breaks-lifecycle")
    #expect(calls(stage) == [1, 1, 0, 0])
    stage.instance.deactivate(within: .milliseconds(3))
    #expect(stage.told("deadline") == ["3000000"])
    #expect(stage.instance.destroy(within: .seconds(1)))
    #expect(stage.instance.destroy(within: .seconds(1)))
    stage.instance.deactivate(within: .zero)
    #expect(calls(stage) == [1, 1, 1, 1])
    #expect(stage.told("destroyed") == ["1"])
  }

  @Test func `an instance is destroyed when its last reference is released`() async throws {
    let stage = try await StageFixture("breaks-lifecycle")
    var other: PluginInstance? = try PluginInstance(
      stage.generation, name: "other", configuration: [:], runtime: stage.runtime)
    #expect(calls(stage) == [2, 1, 0, 0])
    other = nil
    #expect(calls(stage) == [2, 1, 0, 1])
    _ = other
  }

  @Test func `a failed create is reported with the plugin's message`() async throws {
    let error = await #expect(throws: PluginError.self) {
      try await StageFixture("breaks-lifecycle", defines: ["CREATE=SLUICE_STATUS_FAILED"])
    }
    #expect(error?.code == .createFailed)
    #expect(error?.reason == "the moon is missing")
    #expect(error?.says(#"plugin "stage""#) == true)
  }

  @Test func `a create that succeeds without an instance is an error`() async throws {
    let error = await #expect(throws: PluginError.self) {
      try await StageFixture("breaks-lifecycle", defines: ["INSTANCE=NULL"])
    }
    #expect(error?.code == .createFailed)
    #expect(error?.says("gave no instance") == true)
  }

  @Test func `after a failed activate, destroy is called without deactivate`() async throws {
    let stage = try await StageFixture("breaks-lifecycle", defines: ["ACTIVATE=SLUICE_STATUS_FAILED"], isActive: false)
    let error = #expect(throws: PluginError.self) { try stage.instance.activate() }
    #expect(error?.code == .activateFailed)
    #expect(error?.reason == "the moon is down")
    #expect(calls(stage) == [1, 1, 0, 1])
    #expect(stage.instance.destroy(within: .zero))
    #expect(calls(stage) == [1, 1, 0, 1])
  }

  @Test func `a configuration that the schema does not allow is refused before create`() async throws {
    let error = await #expect(throws: PluginError.self) {
      try await StageFixture("breaks-lifecycle", configuration: ["token": 1])
    }
    #expect(error?.code == .configuration)
    #expect(error?.says(#"plugin "stage""#, "/token", "string") == true, "\(String(describing: error))")
  }

  @Test func `values outlive instances, and a timer fires unless it was cancelled`() async throws {
    let stage = try await StageFixture("uses-values-and-timers")
    _ = try stage.run(StageFixture.request())
    _ = try stage.run(StageFixture.request())
    #expect(stage.told("absent") == ["1", "1"])
    #expect(stage.told("value") == ["2", "4"])
    #expect(stage.told("differs") == ["1", "1"])
    #expect(stage.told("expected") == ["2", "4"])
    #expect(stage.told("cancel") == ["0", "0"])
    #expect(stage.told("unknown") == ["0", "0"])
    #expect(stage.told("fired").isEmpty)
    stage.loop.advance(by: .seconds(1))
    #expect(stage.told("fired") == ["1", "1"])
    #expect(stage.told("cancel-late") == ["3", "3"])
    #expect(stage.told("never").isEmpty)
  }

  @Test func `deactivate cancels timers`() async throws {
    let stage = try await StageFixture("uses-values-and-timers")
    _ = try stage.run(StageFixture.request())
    stage.instance.deactivate(within: .zero)
    stage.loop.advance(by: .seconds(1))
    #expect(stage.told("fired").isEmpty)
  }
}
