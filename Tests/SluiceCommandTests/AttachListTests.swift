import Glibc
import SluiceTestKit
import Testing

/// `sluice attach --list`.
@Suite(.enabled(if: !Sanitizer.isOn)) struct AttachListTests {
  private let folder: TemporaryDirectory

  init() throws { folder = try TemporaryDirectory() }

  private func list(_ program: String) async throws -> (status: Int32?, text: String) {
    let result = try await Tool.run(
      "attach", "--list", program, environment: ["PATH": "\(folder.path):/usr/sbin:/usr/bin:/sbin:/bin"])
    return (result.status, result.outputText + result.errorText)
  }

  private func writeProgram(_ text: String, mode: mode_t = 0o755) throws -> String {
    let file = try folder.write(text, to: "program")
    try #require(chmod(file, mode) == 0)
    return file
  }

  private static let notLinked = "  not linked with libcurl; attach reaches modules with libcurl that it opens later"

  @Test(arguments: [
    ("curl", 0, "libcurl.so.4 (libcurl/"), ("/bin/true", 0, notLinked), ("ldconfig", 1, "linked statically"),
    ("no-such-program", 127, "sluice: attach: no-such-program: no such program on PATH\n"),
    ("/no/such/program", 127, "sluice: attach: /no/such/program: No such file or directory\n"),
    ("/usr", 126, "sluice: attach: /usr: Is a directory\n"),
    ("/etc/passwd", 126, "sluice: attach: /etc/passwd: Permission denied\n"),
  ])
  func `a program is examined without running it`(_ program: String, _ status: Int32, _ words: String) async throws {
    let answer = try await list(program)
    #expect(answer.status == status)
    #expect(answer.text.contains(words), "\(answer.text)")
  }

  @Test(arguments: [
    ("#!/bin/sh\n", "/bin/sh"), ("#! /bin/sh -e\n", "/bin/sh"), ("#!/usr/bin/env sh\n", "sh"),
    ("#!/usr/bin/env -S A=1 sh -e\n", "sh"), ("echo without a line for the interpreter\n", "/bin/sh"), ("", "/bin/sh"),
  ])
  func `a script can be reached if its interpreter can be reached`(text: String, interpreter: String) async throws {
    let answer = try await list(try writeProgram(text))
    #expect(answer.status == 0)
    #expect(answer.text.contains("  a script for \(interpreter): /"), "\(answer.text)")
    #expect(answer.text.contains(Self.notLinked))
  }

  @Test func `a script is not reached if its interpreter is static, missing or the script itself`() async throws {
    let program = folder.path("program")
    for (line, reason) in [
      ("#!/sbin/ldconfig", "linked statically"), ("#!/no/such", "a script for /no/such, which cannot be run"),
      ("#!\(program)", "a script for \(program), which cannot be run"),
    ] {
      let answer = try await list(try writeProgram("\(line)\n"))
      #expect(answer.status == 1)
      #expect(answer.text.contains("not reached: ") && answer.text.contains(reason), "\(answer.text)")
    }
  }

  @Test func `a setgid program and a program for another machine are not reached`() async throws {
    _ = try await Command.check("cp", ["/bin/true", folder.path("program")])
    try #require(chmod(folder.path("program"), 0o2755) == 0)
    let privileged = try await list("program")
    #expect(privileged.status == 1)
    #expect(privileged.text.contains("not reached: it is setuid, setgid or has capabilities"))
    let foreign = try await list(try writeProgram("\u{7F}ELF\u{1}\u{1}\u{1}\n"))
    #expect(foreign.status == 1)
    #expect(foreign.text.contains("not reached: it is not a program for this machine"))
  }

  @Test func `a libcurl that is too old is listed as not reached`() async throws {
    let library = folder.path("libcurl.so.4")
    let text = #"const char *version(void) { return "libcurl/7.74.0"; } int main(void) { return !version(); }"#
    let source = try folder.write(text, to: "program.c")
    try await Command.check("cc", ["-shared", "-fPIC", "-Wl,-soname,\(library)", source, "-o", library])
    try await Command.check("cc", [source, "-Wl,--no-as-needed", library, "-o", folder.path("program")])
    let answer = try await list("program")
    #expect(answer.status == 1)
    #expect(answer.text.contains("not reached: \(library) (libcurl/7.74.0) is older than 7.83"), "\(answer.text)")
  }
}
