/// The files of a new plugin.
enum PluginTemplate {
  struct File {
    let path: String
    let text: String
  }

  /// The files of a plugin other than its code. They are the same for all languages.
  /// - Parameter isPackage: whether the plugin is a Swift package. Otherwise `LDLIBS` names libraries that are linked.
  static func common(_ name: String, built: String, ignored: String, isPackage: Bool = false) -> [File] {
    let libraries =
      isPackage
      ? ""
      : "# Further libraries that the plugin links, such as -lcrypto. \"sluice dev\" takes LDLIBS from its own environment.\nexport LDLIBS ?=\n\n"
    let more =
      isPackage
      ? "    SLUICE_PACKAGE=../sluice swift test --scratch-path .build/tests   # its tests in Swift, with the sources of Sluice\n"
      : "    LDLIBS=-lcrypto sluice plugin build         # links a further library; so with dev\n"
    return [
      File(
        path: "pipeline.json",
        text: """
          {
            "plugins": {"\(name)": {"library": "\(built)", "config": {"value": "hello"}, "build": {"folder": "."}}},
            "request": ["\(name)"],
            "transport": {"baseURL": "http://127.0.0.1:8080"}
          }

          """),
      File(
        path: "Makefile",
        text: """
          SLUICE ?= sluice

          \(libraries)build:
          \t$(SLUICE) plugin build .

          # Runs the self-tests of the plugin, and checks that it follows the rules of the ABI.
          test: build
          \t$(SLUICE) plugin validate --config '{"value": "hello"}' "$$($(SLUICE) plugin build --quiet .)"

          .PHONY: build test

          """),
      File(path: ".gitignore", text: "\(ignored)\n"),
      File(
        path: "README.md",
        text: """
          # \(name)

          A plugin for Sluice. It sets the header `x-\(name)` of each request.

              sluice plugin build                         # prints the path of the library
              make test                                   # its self-tests, and the rules of the ABI
          \(more)    sluice echo --port 8080 &                   # answers with what it got
              sluice send -c pipeline.json -v /headers    # sends a request through it
              sluice dev -c pipeline.json --listen 8081   # builds and swaps it in at each change

          | key | |
          |---|---|
          | `value` | the value of the header |

          """),
    ]
  }

  /// The name of the plugin's type: `TenantPlugin` for `tenant` and `tenant-plugin`. Neither Swift nor the SDK uses
  /// such a name.
  static func typeName(_ name: String) -> String {
    var words = name.split(separator: "-")
    if words.count > 1, words.last == "plugin" { words.removeLast() }
    let parts: [String] = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }
    return parts.joined() + "Plugin"
  }
}
