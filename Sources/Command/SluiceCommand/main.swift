ProcessEnd.end(CommandLineTool.run(ArgumentWord.ofProcess))
