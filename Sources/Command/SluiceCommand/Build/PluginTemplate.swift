/// The files of a new plugin.
enum PluginTemplate {
  struct File {
    let path: String
    let text: String
  }

  /// The files of a plugin other than its code. They are the same for all languages.
  static func common(_ name: String, built: String, ignored: String) -> [File] {
    [
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

          build:
          \t$(SLUICE) plugin build .

          # Runs the self-tests of the plugin, and checks that it follows the rules of the ABI.
          test: build
          \t$(SLUICE) plugin validate --config '{"value": "hello"}' "$$($(SLUICE) plugin build .)"

          .PHONY: build test

          """),
      File(path: ".gitignore", text: "\(ignored)\n"),
      File(
        path: "README.md",
        text: """
          # \(name)

          A plugin for Sluice. It sets the header `x-\(name)` of each request.

              sluice plugin build                         # prints the path of the library
              make test # its self-tests, and the rules of the ABI
              sluice send -c pipeline.json https://example.com/ -v
              sluice echo --port 8080 &                   # answers with what it got
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
