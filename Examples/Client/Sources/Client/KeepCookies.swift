import SluiceClient
import SluiceCookies

/// Keeps the cookies that the server sets, and sends them with later requests.
func keepCookies(_ url: HTTPURL) async throws {
  let jar = CookieJar()
  let client = try Client(cookies: jar)
  _ = try await client.data(from: url)
  _ = try await client.data(from: url)
  print("client: \(jar.cookies(for: url).count) cookies")
  await client.shutdown()
}

/// Keeps the cookies in a file from one run of the program to the next.
func keepCookies(_ url: HTTPURL, in path: String) async throws {
  let jar = try await CookieJar(file: path)
  let client = try Client(cookies: jar)
  _ = try await client.data(from: url)
  try await jar.save()
  await client.shutdown()
}
