"""A name server on a real UDP socket that changes its mind: each look-up of a name gets the next of its answers.

with DnsServer({"a.example.com": [["93.184.216.34"], ["127.0.0.1"]]}) as server:
    server.resolve("a.example.com")   # asks over the socket, for both kinds of addresses
    server.queries                    # names that were asked for
"""

import ipaddress
import secrets
import socket
import struct
import threading
from contextlib import suppress

A, AAAA = 1, 28
LOOKED_UP = (A, AAAA)


class DnsServer:
    def __init__(self, answers: dict[str, list[list[str]]], *, silent: bool = False) -> None:
        self._answers, self._silent = answers, silent
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self.queries: list[str] = []

    def __enter__(self):
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._socket.close()

    def resolve(self, name: str) -> list[str]:
        """As a stub resolver does it: one query of each kind; no cache, so that a second look-up would show."""
        found = []
        for kind in LOOKED_UP:
            found += self._query(name, kind)
        if not found:
            raise socket.gaierror(socket.EAI_NONAME, "no such name")
        return found

    def _query(self, name, kind):
        number = secrets.randbelow(65536)
        question = b"".join(bytes([len(part)]) + part.encode() for part in name.split(".")) + b"\0"
        packet = struct.pack(">HHHHHH", number, 0x0100, 1, 0, 0, 0) + question + struct.pack(">HH", kind, 1)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
            asking.settimeout(10)
            asking.sendto(packet, self._socket.getsockname())
            reply = asking.recv(65535)
        count = struct.unpack(">H", reply[6:8])[0]
        at, found = len(packet), []
        for _ in range(count):
            size = struct.unpack(">H", reply[at + 10 : at + 12])[0]
            found.append(str(ipaddress.ip_address(reply[at + 12 : at + 12 + size])))
            at += 12 + size
        return found

    def _serve(self):
        with suppress(OSError):
            while True:
                packet, client = self._socket.recvfrom(65535)
                if not self._silent:
                    self._socket.sendto(self._reply(packet), client)

    def _reply(self, packet):
        labels, at = [], 12
        while packet[at]:
            labels.append(packet[at + 1 : at + 1 + packet[at]].decode())
            at += 1 + packet[at]
        kind = struct.unpack(">H", packet[at + 1 : at + 3])[0]
        name = ".".join(labels)
        self.queries.append(name)
        turns = self._answers.get(name, [[]])
        # both kinds of one look-up belong together
        turn = turns[min((self.queries.count(name) - 1) // len(LOOKED_UP), len(turns) - 1)]
        addresses = [ipaddress.ip_address(text) for text in turn]
        records = [
            b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, 0, len(address.packed)) + address.packed
            for address in addresses
            if (address.version == 4) is (kind == A)
        ]
        head = packet[:2] + struct.pack(">HHHHH", 0x8180, 1, len(records), 0, 0)
        return head + packet[12 : at + 5] + b"".join(records)
