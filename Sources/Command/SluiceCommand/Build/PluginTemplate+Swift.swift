extension PluginTemplate {
  static func swift(_ name: String) -> [File] {
    let type = typeName(name)
    return [
      File(path: "Sources/\(type)/\(type).swift", text: swiftSource(name, type)),
      File(path: "Tests/\(type)Tests/\(type)Tests.swift", text: tests(name, type)),
      File(path: "Package.swift", text: manifest(name, type)),
    ] + common(name, built: ".build/debug/lib\(name).so", ignored: "/.build/", isPackage: true)
  }

  private static func manifest(_ name: String, _ type: String) -> String {
    #"""
    // swift-tools-version: 6.2
    import PackageDescription

    /// "sluice plugin build" sets both variables: the path of the SDK and the name of this build. It also makes a link to
    /// the SDK, for editors. The module's name contains the name of the build, so a look-up by name never finds a type
    /// of another build in the same program.
    let sdk = Context.environment["SLUICE_SDK"] ?? ".build/sluice-sdk"
    let build = Context.environment["SLUICE_BUILD"] ?? "0"

    /// The sources of Sluice. With them, there are tests in Swift, which run the plugin in an engine.
    let engine = Context.environment["SLUICE_PACKAGE"].flatMap { $0.isEmpty ? nil : $0 }
    let module = engine == nil ? "\#(type)_\(build)" : "\#(type)"
    let plugin = Target.Dependency.product(name: "SluicePlugin", package: engine == nil ? "sluice-sdk" : "sluice")

    let package = Package(
      name: "\#(name)",
      products: [.library(name: "\#(name)", type: .dynamic, targets: [module])],
      dependencies: [engine.map { .package(name: "sluice", path: $0) } ?? .package(name: "sluice-sdk", path: sdk)],
      targets: [.target(name: module, dependencies: [plugin], path: "Sources/\#(type)")],
      swiftLanguageModes: [.v6]
    )

    if engine != nil {
      package.targets.append(
        .testTarget(
          name: "\#(type)Tests",
          dependencies: [.target(name: module), plugin, .product(name: "SluiceKit", package: "sluice")]))
    }

    """#
  }

  private static func tests(_ name: String, _ type: String) -> String {
    #"""
    import Sluice
    import Testing

    @testable import \#(type)

    /// Runs the plugin in an engine, without a server.
    @Suite struct \#(type)Tests {
      @Test func `a request gets the header`() async throws {
        var configuration = Configuration()
        configuration.addStage("\#(name)", StageCode(\#(type).self, configuration: ["value": "red"]))
        // Answers with the header that a server would have got.
        configuration.addStage(
          "in place of a server",
          StageCode(request: { request, _ in
            request.respond(status: 200).headers["x-got"] = request.headers["x-\#(name)"]
          }))
        let engine = try Engine(configuration)
        let response = try await engine.perform(Request(url: "http://example.com/"))
        #expect(response.headers["x-got"] == "red")
        await engine.shutdown()
      }
    }

    """#
  }

  private static func swiftSource(_ name: String, _ type: String) -> String {
    #"""
    import SluicePlugin

    /// Sets a header of each request.
    struct \#(type): Plugin, RequestInterceptor {
      struct Configuration: Decodable, Sendable {
        var value: String
      }

      static let information = PluginInformation(
        id: "\#(name)", version: "0.1.0", summary: "Sets a header of each request.")

      /// Self-tests, run before each hot swap and by "sluice plugin validate".
      static let selfTests = [
        SelfTest<\#(type)>(
          "sets-header", "The header is on the wire.", configuration: ["value": "red"],
          expectedRequest: ["headers": ["x-\#(name)": "red"]])
      ]

      let configuration: Configuration

      /// Checks the configuration and stores it; code that opens or starts something belongs in `activate`.
      init(configuration: Configuration, host: PluginHost) throws { self.configuration = configuration }

      func intercept(_ request: StageRequest, context: RequestContext) async throws {
        request.headers["x-\#(name)"] = configuration.value
      }
    }

    /// The function that the host calls.
    @c(sluice_plugin_entry) public func entry(_ host: EntryHost, _ abi: UInt32, _ error: EntryError) -> EntryTable {
      export(\#(type).self, host, abi, error)
    }

    """#
  }
}
