import SluiceJSON
import SluicePluginHost

/// The helper mode of the `sluice` command. A host starts the command in this mode to try a library out.
package enum TrialRun {
  /// Performs a task of another module, in the child process.
  package typealias Body = @Sendable (TrialRequest, TrialChannel) -> Void

  /// Serves one request from standard input, and returns the exit status for this process. The process must have only
  /// one thread.
  package static func serve(_ tasks: [String: Body] = [:]) -> Int32 { TrialSupervisor.run { perform($0, $1, tasks) } }

  /// Runs in the child process.
  private static func perform(_ request: TrialRequest, _ channel: TrialChannel, _ tasks: [String: Body]) {
    if let body = tasks[request.task] { return body(request, channel) }
    guard request.task != TrialRequest.trial else { return trial(request, channel) }
    guard request.task != schemaTask else { return tellSchema(request, channel) }
    guard let check = ConformanceCheck.named(request.task) else {
      return channel.finish(CheckVerdict.failed("there is no check of that name").document)
    }
    channel.finish(CheckRun(request, channel).verdict(of: check).document)
  }

  /// The task that reports the schema of the plugin's configuration.
  static let schemaTask = "schema"

  private static func tellSchema(_ request: TrialRequest, _ channel: TrialChannel) {
    do {
      let host = try TrialHost()
      let generation = try TrialLibrary(request, channel, host: host.runtime).generation
      let document: JSONValue = ["passed": true]
      document["schema"] = generation.configurationSchema.map { JSONValue($0) }
      channel.finish(document)
    } catch {
      channel.finish(["passed": false])
    }
  }

  private static func trial(_ request: TrialRequest, _ channel: TrialChannel) {
    TrialExit.watch()
    let changes = ProcessChanges()
    do throws(PluginError) {
      let library = try LibraryTrialRun(request, channel).run()
      channel.finish(["passed": true, TrialReport.changesKey: .array(of: changes.sentences)])
      TrialExit.run(channel, library)
    } catch {
      channel.finish(["error": error.document])
    }
  }
}
