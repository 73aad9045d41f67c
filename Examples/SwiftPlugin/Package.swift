// swift-tools-version: 6.2
import PackageDescription

// Two plugins in a separate package, each in its own library. Outside this repository, use the installed SDK as the
// dependency, `.package(path: "/usr/local/share/sluice/sdk")`, and write `package: "sdk"` for the product.
let package = Package(
  name: "add-header",
  products: [
    .library(name: "add-header", type: .dynamic, targets: ["AddHeader"]),
    .library(name: "ask-directory", type: .dynamic, targets: ["AskDirectory"]),
  ],
  dependencies: [.package(name: "sluice", path: "../..")],
  targets: [
    .target(name: "AddHeader", dependencies: [.product(name: "SluicePlugin", package: "sluice")]),
    .target(name: "AskDirectory", dependencies: [.product(name: "SluicePlugin", package: "sluice")]),
  ],
  swiftLanguageModes: [.v6]
)
