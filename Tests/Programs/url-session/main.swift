// A program that uses URLSession and knows nothing of Sluice: one request with `await`, one with a completion handler,
// and one of many at once. Prints the bodies.
import Dispatch
import Foundation
import FoundationNetworking

let base = CommandLine.arguments[1]

func url(_ path: String) -> URL { URL(string: base + path).unsafelyUnwrapped }

func show(_ body: Data) { FileHandle.standardOutput.write(body) }

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
