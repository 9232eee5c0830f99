"""A relay between clients and a broker that keeps what passes, with its times, and writes it as a capture.

The bytes are those that clients and broker have really said to each other, in the order and at the times at which they
passed; the TCP segments around them are made here, cut at random, because listening on an interface needs rights that a
test does not have.
"""

import random
import selectors
import socket
import struct
import threading
import time

CLIENT, BROKER = 0, 1
SYN, ACK, FIN = 0x02, 0x10, 0x01


class Connection:
    """What has passed on one connection: (time in ns, direction, bytes), and its two ends."""

    def __init__(self, client, opened):
        self.client, self.opened, self.closed = client, opened, None
        self.passed = []

    def stream(self, direction):
        return b"".join(data for _, side, data in self.passed if side == direction)


class Relay:
    """Listens on a free port from the start; passes on once it knows the broker's address."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.broker = None
        self.connections = []
        self._threads, self._sockets, self._lock = [], [], threading.Lock()
        self._stopped = False

    def start(self, host, port):
        self.broker = (host, port)
        thread = threading.Thread(target=self._accept, daemon=True)
        thread.start()
        self._threads.append(thread)

    def _accept(self):
        while True:
            try:
                client, address = self.listener.accept()
            except OSError:
                return
            if self._stopped:
                client.close()
                return
            connection = Connection(address, time.time_ns())
            thread = threading.Thread(target=self._relay, args=(client, connection), daemon=True)
            with self._lock:
                self.connections.append(connection)
                self._threads.append(thread)
            thread.start()

    def _relay(self, client, connection):
        try:
            broker = socket.create_connection(self.broker)
        except OSError:
            client.close()
            return
        with self._lock:
            self._sockets += [client, broker]
        ends = {client: (CLIENT, broker), broker: (BROKER, client)}
        with client, broker, selectors.DefaultSelector() as selector:
            for end in ends:
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                selector.register(end, selectors.EVENT_READ)
            while selector.get_map():
                for key, _ in selector.select():
                    side, other = ends[key.fileobj]
                    try:
                        data = key.fileobj.recv(1 << 18)
                        if data:
                            connection.passed.append((time.time_ns(), side, data))
                            other.sendall(data)
                        else:
                            other.shutdown(socket.SHUT_WR)
                    except OSError:
                        data = b""
                        for end in ends:
                            try:
                                end.shutdown(socket.SHUT_RDWR)
                            except OSError:
                                pass
                    if not data:
                        selector.unregister(key.fileobj)
        connection.closed = time.time_ns()

    def stop(self):
        """Ends every connection; then nothing is added to them any more."""
        self._stopped = True
        try:
            socket.create_connection(("127.0.0.1", self.port)).close()  # so that accept() comes back
        except OSError:
            pass
        self.listener.close()
        with self._lock:
            for end in self._sockets:
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
        for thread in list(self._threads):
            thread.join(20)


class Packets:
    """The packets that may have carried what a relay kept. `disorder`: some are sent twice, some come a little late."""

    def __init__(self, connections, port, seed, disorder=False, v6=False):
        self.random, self.port, self.v6 = random.Random(seed), port, v6
        self.packets = []  # (time in ns, IP packet)
        for connection in connections:
            self._add(connection, disorder)
        self.packets.sort(key=lambda packet: packet[0])

    def _add(self, connection, disorder):
        port = connection.client[1]
        sequence = [self.random.getrandbits(32), self.random.getrandbits(32)]

        def packet(side, flags, data=b"", at=None):
            at = sequence[side] if at is None else at
            return self._ip(side, port, at, sequence[1 - side], flags, data)

        made = [(connection.opened, packet(CLIENT, SYN))]
        sequence[CLIENT] += 1
        made.append((connection.opened, packet(BROKER, SYN | ACK)))
        sequence[BROKER] += 1
        for when, side, data in connection.passed:
            burst = []
            while data:
                size = self.random.choice((1, 7, 100, 536, 1448, 1448, 1448, 16384))
                piece, data = data[:size], data[size:]
                burst.append((when, packet(side, ACK, piece)))
                sequence[side] += len(piece)
            if disorder:
                burst += [again for again in burst if self.random.random() < 0.1]
                for i in range(len(burst) - 1):
                    if self.random.random() < 0.2:
                        burst[i], burst[i + 1] = burst[i + 1], burst[i]
            made += burst
        if connection.closed:
            made.append((connection.closed, packet(CLIENT, FIN | ACK)))
            sequence[CLIENT] += 1
            made.append((connection.closed, packet(BROKER, FIN | ACK)))
        self.packets += made

    def _ip(self, side, client_port, sequence, acknowledged, flags, data):
        ports = (client_port, self.port) if side == CLIENT else (self.port, client_port)
        tcp = struct.pack(">HHIIBBHHH", *ports, sequence & 0xFFFFFFFF, acknowledged & 0xFFFFFFFF, 0x50, flags, 65535, 0, 0) + data
        if self.v6:
            loopback = b"\0" * 15 + b"\1"
            return struct.pack(">IHBB", 0x60000000, len(tcp), 6, 64) + loopback * 2 + tcp
        return struct.pack(">BBHIBBH4s4s", 0x45, 0, 20 + len(tcp), 0, 64, 6, 0, b"\x7f\0\0\1", b"\x7f\0\0\1") + tcp

    # -- files, each with another link layer ---------------------------------------------------------------------------

    def _link(self, kind, ip):
        protocol = b"\x86\xdd" if self.v6 else b"\x08\x00"
        if kind == 1:  # Ethernet, with a VLAN tag
            return b"\2" * 12 + b"\x81\x00\x00\x2a" + protocol + ip
        if kind == 113:  # Linux cooked
            return b"\0" * 14 + protocol + ip
        if kind == 276:  # Linux cooked, version 2
            return protocol + b"\0" * 18 + ip
        if kind == 0:  # loopback
            return struct.pack("=I", 30 if self.v6 else 2) + ip
        return ip

    def pcap(self, path, link=1, most=262144):
        with open(path, "wb") as file:
            file.write(struct.pack("=IHHIIII", 0xA1B23C4D, 2, 4, 0, 0, most, link))
            for when, ip in self.packets:
                packet = self._link(link, ip)
                kept = packet[:most]
                file.write(struct.pack("=IIII", when // 10**9, when % 10**9, len(kept), len(packet)) + kept)

    def pcapng(self, path, link=276):
        def block(kind, body):
            size = 12 + len(body)
            return struct.pack("=II", kind, size) + body + struct.pack("=I", size)

        with open(path, "wb") as file:
            file.write(block(0x0A0D0D0A, struct.pack("=IHHq", 0x1A2B3C4D, 1, 0, -1)))
            # Times in nanoseconds: option 9 says ten to the minus nine.
            options = struct.pack("=HHB3x", 9, 1, 9) + struct.pack("=HH", 0, 0)
            file.write(block(1, struct.pack("=HHI", link, 0, 0) + options))
            for when, ip in self.packets:
                packet = self._link(link, ip)
                padded = packet + b"\0" * (-len(packet) % 4)
                file.write(block(6, struct.pack("=IIIII", 0, when >> 32, when & 0xFFFFFFFF, len(packet), len(packet)) + padded))
