import Sluice
import SluicePlugin

/// Stages made of closures that wait, change messages, answer, retry and fail.
enum ChaosStage {
  static func code(seed: UInt64, name: String) -> StageCode {
    StageCode(
      request: { request, context in
        request.headers["x-attempt"] = "\(context.attemptNumber)"
        var dice = ChaosDice(seed, context.path, "\(name) request", context.attemptNumber)
        switch dice.draw(0...39) {
        case 0: throw RetryRequestError()
        case 1: throw StageFailure(code: "chance", message: "by chance")
        case 2: request.respond(status: 200).body = Array("mine".utf8)
        case 3, 4: await Task.detached {}.value
        case 5: try await Task.sleep(for: .milliseconds(dice.draw(0...5)))
        case 6: request.headers["x-changed"] = "yes"
        default: break
        }
      },
      issue: { request, context in
        var dice = ChaosDice(seed, context.path, "\(name) issue", context.attemptNumber)
        if dice.draw(0...99) == 0 { throw StageFailure(code: "chance", message: "by chance") }
        request.headers["x-hop"] = "1"
      },
      response: { response, context in
        var dice = ChaosDice(seed, context.path, "\(name) response", context.attemptNumber)
        switch dice.draw(0...39) {
        case 0: throw RetryRequestError(after: .milliseconds(dice.draw(0...2)))
        case 1: throw StageFailure(code: "chance", message: "by chance")
        case 2: await Task.yield()
        case 3: try await Task.sleep(for: .milliseconds(dice.draw(0...5)))
        case 4: response.body = Array("changed".utf8)
        default: break
        }
      }, options: .wantsResponseBody)
  }
}
