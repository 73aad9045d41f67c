// A program that uses URLSession and knows nothing of Sluice: one request with `await`, one with a completion handler,
// and many at once. Prints the bodies. With a second argument, it makes a request that a stage holds back until another
// request arrives.
import Dispatch
import Foundation
import FoundationNetworking

let base = CommandLine.arguments[1]

func url(_ path: String) -> URL { URL(string: base + path).unsafelyUnwrapped }

func show(_ body: Data) { FileHandle.standardOutput.write(body) }

if CommandLine.arguments.count > 2 {
  let (bodies, continuation) = AsyncStream.makeStream(of: Data.self)
  URLSession.shared.dataTask(with: url("/held")) { body, _, _ in
    continuation.yield(body ?? Data())
    continuation.finish()
  }.resume()
  show(try await URLSession.shared.data(from: url("/fast")).0)
  // The session might begin the first task after the others, so this task sends requests until the first task is
  // released. It runs until the program ends, because a task of URLSession that is cancelled while it finishes might
  // never end.
  Task { while true { _ = try? await URLSession.shared.data(from: url("/release")) } }
  for await body in bodies { show(body) }
  print("/held arrived")
  exit(0)
}

var request = URLRequest(url: url("/async"))
request.setValue("program", forHTTPHeaderField: "X-Own")
show(try await URLSession.shared.data(for: request).0)

let body: Data? = await withCheckedContinuation { continuation in
  URLSession.shared.dataTask(with: url("/handler")) { body, _, _ in continuation.resume(returning: body) }.resume()
}
show(body ?? Data())

let bodies = try await withThrowingTaskGroup(of: (Int, Data).self) { group in
  for number in 0..<8 { group.addTask { (number, try await URLSession.shared.data(from: url("/many/\(number)")).0) } }
  var bodies: [Int: Data] = [:]
  for try await (number, body) in group { bodies[number] = body }
  return bodies
}
for number in 0..<8 { show(bodies[number] ?? Data()) }
