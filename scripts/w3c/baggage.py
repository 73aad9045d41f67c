"""The classes that the suite of W3C Baggage tests. The relay of Examples/ reads and writes baggage for them.

The variable RELAY is the path of the relay's program.
"""

import atexit
import json
import os
import subprocess

_relay = subprocess.Popen(
    [os.environ["RELAY"], "--baggage"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
atexit.register(_relay.kill)


def _ask(question):
    _relay.stdin.write(json.dumps(question) + "\n")
    _relay.stdin.flush()
    return json.loads(_relay.stdout.readline())


class Property:
    def __init__(self, key, value=None):
        self.key = key
        self.value = value


class BaggageEntry:
    def __init__(self, key, value, properties=()):
        self.key = key
        self.value = value
        self.properties = list(properties)

    @classmethod
    def from_string(cls, text):
        (member,) = _ask({"read": text})
        return cls._of(member)

    def to_string(self):
        return _ask({"write": [self._document()]})

    @classmethod
    def _of(cls, member):
        properties = [Property(part["key"], part["value"]) for part in member["properties"]]
        return cls(member["key"], member["value"], properties)

    def _document(self):
        properties = [{"key": part.key, "value": part.value} for part in self.properties]
        return {"key": self.key, "value": self.value, "properties": properties}


class Baggage:
    def __init__(self, entries=()):
        self.entries = list(entries)

    @classmethod
    def from_string(cls, text):
        return cls(BaggageEntry._of(member) for member in _ask({"read": text}))

    def to_string(self):
        return _ask({"write": [entry._document() for entry in self.entries]})
