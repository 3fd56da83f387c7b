"""rdb.py - parses DUMP payloads, and adds valid checksums to changed payloads."""

POLYNOMIAL = 0x95AC9329AC4BC9B5  # CRC-64 "Jones", reflected


def _table():
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (POLYNOMIAL if crc & 1 else 0)
        yield crc


TABLE = list(_table())


def crc64(data):
    crc = 0
    for byte in data:
        crc = TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return crc


def seal(value, version):
    body = value + version
    return body + crc64(body).to_bytes(8, "little")


def open_payload(payload):
    """Returns the value and the RDB version of a payload."""
    assert crc64(payload[:-8]) == int.from_bytes(payload[-8:], "little")
    return payload[:-10], payload[-10:-8]
