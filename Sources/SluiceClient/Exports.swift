// A program that imports the client names the engine, its configuration and the messages too.
@_exported public import Sluice
