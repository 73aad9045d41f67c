// A program that imports the client can also name the types of the engine, its configuration and the messages.
@_exported public import Sluice
