#!/usr/bin/python3
"""pycurl as a peer of sluice-bench: the same requests, as a program in Python sends them.

usage: pycurl-loop.py [--authority FILE] URL CONNECTIONS [NAME: VALUE]...

Reads numbers from standard input, one on each line. Sends that many requests and prints how many failed.
"""

import sys

import pycurl


def discard(data):
    pass


class Loop:
    def __init__(self, url, connections, headers, authority):
        self.multi = pycurl.CurlMulti()
        self.multi.setopt(pycurl.M_MAXCONNECTS, 2 * connections)
        self.handles = [self.handle(url, headers, authority) for _ in range(connections)]

    @staticmethod
    def handle(url, headers, authority):
        handle = pycurl.Curl()
        handle.setopt(pycurl.URL, url)
        # By default, Python's binding sends its own name as the user agent.
        handle.setopt(pycurl.USERAGENT, "")
        handle.setopt(pycurl.HTTPHEADER, headers)
        handle.setopt(pycurl.WRITEFUNCTION, discard)
        handle.setopt(pycurl.NOSIGNAL, 1)
        handle.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_1_1)
        if authority:
            handle.setopt(pycurl.CAINFO, authority)
        return handle

    def run(self, count):
        multi, failed = self.multi, 0
        started = self.handles[:count]
        for handle in started:
            multi.add_handle(handle)
        to_start, running = count - len(started), len(started)
        while running:
            multi.perform()
            more, is_idle = 1, True
            while more:
                more, succeeded, broken = multi.info_read()
                failed += len(broken)
                for handle in succeeded + [entry[0] for entry in broken]:
                    is_idle = False
                    multi.remove_handle(handle)
                    if to_start:
                        to_start -= 1
                        multi.add_handle(handle)
                    else:
                        running -= 1
            if is_idle:
                multi.select(1.0)
        return failed


def main():
    words = sys.argv[1:]
    authority = None
    if words and words[0] == "--authority":
        authority, words = words[1], words[2:]
    loop = Loop(words[0], int(words[1]), words[2:], authority)
    for line in sys.stdin:
        print(loop.run(int(line)), flush=True)


main()
