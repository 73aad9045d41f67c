// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"), .treatAllWarnings(as: .error),
]

/// One program for each parser. libFuzzer provides `main`, so the single source file must not be compiled as a script.
func fuzzer(_ name: String, of product: String = "SluiceTraceContext") -> Target {
  .executableTarget(
    name: "fuzz-\(name)",
    dependencies: ["FuzzInput", .product(name: product, package: "sluice")], path: "Sources/\(name)",
    swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])])
}

let package = Package(
  name: "sluice-fuzzers",
  dependencies: [.package(name: "sluice", path: "..")],
  targets: [
    .target(name: "FuzzInput", swiftSettings: strict),
    fuzzer("traceparent"), fuzzer("tracestate"), fuzzer("baggage"), fuzzer("b3"), fuzzer("carrier"),
    fuzzer("response", of: "MessageProperties"), fuzzer("request", of: "MessageProperties"),
    fuzzer("preflight", of: "Sluice"),
  ],
  swiftLanguageModes: [.v6]
)
