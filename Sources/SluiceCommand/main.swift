ProcessEnd.end(CommandLineTool.run(CommandLine.arguments))
