import SluicePluginHost
import SluiceTestKit
import Testing

@testable import SluiceAssembly
@testable import Sluice
import SluicePluginFile

/// The messages of a swap about plugin calls that do not return.
@Suite struct SnapshotDraftTests {
  @Test func `a draft names the plugin and the call that has not returned`() async throws {
    let folder = try TemporaryDirectory()
    try await StampedLibrary.inC().install(1, at: folder.path("a.so"))
    let configuration = try SwapFixture.configuration([("a", "a.so")], in: folder)
    let (drafted, said) = (Watched<SnapshotDraft?>(nil), Watched<[String]>([]))
    let runtime = HostRuntime(loops: [], programName: "sluice", programVersion: Engine.version) { entry in
      let call = drafted.value?.callUnderWay
      let line = "\(call?.plugin.name ?? "") \(call?.function.rawValue ?? ""): \(entry.message)"
      said.update { $0.append(line) }
    }
    let hosting = PluginHosting(runtime: runtime, log: { _ in })
    let library = try #require(configuration.libraries.first)
    let staged = try PluginLoader(store: folder.path("store"), offer: runtime.offer).stage(library)
    let draft = hosting.draft(configuration, [library: try hosting.enter(staged.load(), of: library, for: ["a"])])
    drafted.update { $0 = draft }
    // The plugin logs a line in load and in activate, and the log handler notes the call under way.
    try draft.create()
    try draft.load(["a": SavedState(text: #"{"generations": 4}"#, version: 7)])
    try draft.activate()
    #expect(said.value == ["a load: before=4", "a activate: activated=1"])
    #expect(draft.callUnderWay?.function == nil)
    draft.undo()
    runtime.close()
    drafted.update { $0 = nil }
  }

  @Test(arguments: [
    (SnapshotDraft.Call.Function.create, PluginError.Code.createFailed), (.load, .stateRefused),
    (.activate, .activateFailed),
  ])
  func `the error for a call that does not return names plugin, library and function, and gives advice`(
    _ function: SnapshotDraft.Call.Function, _ code: PluginError.Code
  ) {
    let plugin = PluginConfiguration(name: "auth", source: .library(path: "plugins/libauth.so"))
    let error = SnapshotDraft.Call(function: function, plugin: plugin).overdue(after: .seconds(30))
    guard let reported = error.underlying as? PluginError else {
      Issue.record("\(error)")
      return
    }
    #expect(reported.code == code && reported.advice != nil)
    let start =
      "plugin \"auth\" at plugins/libauth.so: \(function.rawValue) did not return within the 30.0 seconds that"
    #expect(error.description.hasPrefix(start), "\(error)")
  }
}
