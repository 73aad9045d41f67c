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

  @Test(arguments: [
    ("curl", 0, "  reached: /"), ("curl", 0, "libcurl.so.4 (libcurl/"), ("ldconfig", 4, "linked statically"),
    ("ldconfig", 4, "  perhaps reached: it may start programs\n"),
    ("/bin/true", 1, "not linked with libcurl, and neither opens modules nor starts programs"),
    ("/bin/sh", 4, "  perhaps reached: it starts programs (execve)\n"),
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

  @Test func `a shared library can be examined without being executable, but a program cannot`() async throws {
    let product = try await PluginCompiler.compile("acts")
    let library = try folder.write(try FileTree.read(product.path), to: "library.so")
    let program = try folder.write(try FileTree.read("/bin/true"), to: "no-exec")
    for file in [library, program] { try #require(chmod(file, 0o644) == 0) }
    let answer = try await list(library)
    #expect(answer.status == 1 && answer.text.contains("it is a shared library, not a program"), "\(answer.text)")
    for name in [program, "no-exec"] {
      let refused = try await list(name)
      #expect(
        refused.status == 126 && refused.text == "sluice: attach: \(name): Permission denied\n", "\(refused.text)")
    }
  }

  @Test(arguments: [
    ("#!/bin/sh\n", "/bin/sh"), ("#! /bin/sh -e\n", "/bin/sh"), ("#!/usr/bin/env sh\n", "sh"),
    ("#!/usr/bin/env -S A=1 sh -e\n", "sh"), ("echo without a line for the interpreter\n", "/bin/sh"), ("", "/bin/sh"),
  ])
  func `a script is reached as its interpreter is`(text: String, interpreter: String) async throws {
    let answer = try await list(try writeProgram(text))
    #expect(answer.status == 4)
    #expect(answer.text.contains("  a script for \(interpreter): /"), "\(answer.text)")
    #expect(answer.text.contains("perhaps reached: it starts programs"))
  }

  @Test func `a script is not reached if its interpreter is static, missing or the script itself`() async throws {
    let program = folder.path("program")
    for (line, status, reason) in [
      ("#!/sbin/ldconfig", 4, "linked statically"), ("#!/no/such", 1, "a script for /no/such, which cannot be run"),
      ("#!\(program)", 1, "a script for \(program), which cannot be run"),
    ] {
      let answer = try await list(try writeProgram("\(line)\n"))
      #expect(answer.status == Int32(status))
      #expect(answer.text.contains("not reached: ") && answer.text.contains(reason), "\(answer.text)")
    }
  }

  @Test func `a setgid program and a program for another machine are not reached`() async throws {
    _ = try await Command.check("cp", ["/bin/true", folder.path("program")])
    try #require(chmod(folder.path("program"), 0o2755) == 0)
    let privileged = try await list("program")
    #expect(privileged.status == 1)
    #expect(privileged.text.contains("not reached: it is setuid, setgid or has capabilities"))
    for (bits, reason) in [("\u{2}", "it is not a program for this machine"), ("\u{1}", "it is a 32-bit program")] {
      let foreign = try await list(try writeProgram("\u{7F}ELF\(bits)\u{1}\u{1}\n"))
      #expect(foreign.status == 1)
      #expect(foreign.text.contains("not reached: \(reason)"), "\(foreign.text)")
    }
  }

  /// Compiles a program. `call` is C code in `main`.
  private func compile(_ call: String, _ flags: [String] = []) async throws {
    let source = try folder.write(
      "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <spawn.h>\n#include <stdlib.h>\nint main(void) { \(call) }",
      to: "program.c")
    try await Command.check("cc", [source, "-o", folder.path("program")] + flags)
  }

  @Test(arguments: [
    ("return dlopen(\"m\", 1) != 0;", "it opens modules (dlopen)"),
    ("return dlmopen(-1, \"m\", 1) != 0;", "it opens modules (dlmopen)"),
    ("return system(\"x\");", "it starts programs (system)"),
    ("return posix_spawn(0, 0, 0, 0, 0, 0);", "it starts programs (posix_spawn)"),
  ])
  func `a program that opens modules or starts programs is perhaps reached`(_ call: String, _ reason: String)
    async throws
  {
    try await compile(call)
    let answer = try await list("program")
    #expect(answer.status == 4)
    #expect(answer.text.hasSuffix("\n  perhaps reached: \(reason)\n"), "\(answer.text)")
  }

  @Test func `a library that opens modules is named`() async throws {
    let source = try folder.write(
      "#include <dlfcn.h>\nvoid *load(const char *path) { return dlopen(path, 1); }", to: "library.c")
    let library = folder.path("libmodules.so.1")
    try await Command.check("cc", ["-shared", "-fPIC", "-Wl,-soname,\(library)", source, "-o", library])
    try await compile("return 0;", ["-Wl,--no-as-needed", library])
    let answer = try await list("program")
    #expect(answer.status == 4)
    #expect(answer.text.contains("  perhaps reached: libmodules.so.1 opens modules (dlopen)\n"), "\(answer.text)")
  }

  @Test(arguments: [
    ("return 0;", 1, ""), ("return dlopen(\"m\", 1) != 0;", 1, ""),
    ("return system(\"x\");", 4, "  perhaps reached: it starts programs (system)\n"),
  ])
  func `a program for musl is not reached, but programs that it starts may be`(
    _ call: String, _ status: Int32, _ reason: String
  ) async throws {
    try await compile(call, ["-Wl,--dynamic-linker=/no/such/ld-musl-x86_64.so.1"])
    let answer = try await list("program")
    #expect(answer.status == status)
    #expect(answer.text.contains("not reached: its C library is musl"), "\(answer.text)")
    #expect(answer.text.hasSuffix("glibc only\n\(reason)"), "\(answer.text)")
  }

  @Test func `a file that is no whole program is named as what it is`() async throws {
    try await compile("return 0;")
    let whole = try FileTree.read(folder.path("program"))
    _ = try folder.write(Array(whole.prefix(1000)), to: "truncated")
    try await compile("return 0;", ["-shared", "-fPIC"])
    try await Command.check("mv", [folder.path("program"), folder.path("library")])
    try await compile("return 0;", ["-c"])
    for (name, reason) in [
      ("truncated", "its file is truncated"), ("library", "it is a shared library, not a program"),
      ("program", "it is not a program for this machine"),
    ] {
      try #require(chmod(folder.path(name), 0o755) == 0)
      let answer = try await list(name)
      #expect(answer.status == 1)
      #expect(answer.text.hasSuffix("\n  not reached: \(reason)\n"), "\(answer.text)")
    }
  }

  @Test func `a program without a table of sections is perhaps reached`() async throws {
    try await compile("return 0;")
    var bytes = try FileTree.read(folder.path("program"))
    // The offset of the table, its number of entries, and the entry with the names.
    for index in Array(40..<48) + Array(60..<64) { bytes[index] = 0 }
    _ = try folder.write(bytes, to: "program")
    let answer = try await list("program")
    #expect(answer.status == 4)
    #expect(answer.text.hasSuffix("\n  perhaps reached: it has no table of sections, which would show what it calls\n"))
  }

  @Test(arguments: [
    ("libcurl/8.5.0", "own libcurl (libcurl/8.5.0)\n"), ("Number of redirects hit maximum amount", "own libcurl\n"),
  ])
  func `a program that contains libcurl is not reached, whichever of its texts the linker has kept`(
    _ text: String, _ reason: String
  ) async throws {
    try await compile("static const char *volatile text = \"\(text)\"; return *text == 0 && dlopen(text, 1);")
    let answer = try await list("program")
    #expect(answer.status == 1)
    #expect(answer.text.contains("not reached: it contains its \(reason)"), "\(answer.text)")
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
