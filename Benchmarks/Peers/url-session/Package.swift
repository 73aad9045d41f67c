// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that only this program is linked with Foundation.
let package = Package(
  name: "url-session",
  targets: [
    .executableTarget(
      name: "url-session",
      swiftSettings: [.enableUpcomingFeature("MemberImportVisibility"), .treatAllWarnings(as: .error)])
  ],
  swiftLanguageModes: [.v6]
)
