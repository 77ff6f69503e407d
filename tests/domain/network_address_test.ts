import { isIP } from "node:net";
import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { isHostName, isLoopbackAddress, isPublicAddress, parseAddress } from "../../domain/network_address.ts";

const anyIpv4 = fc.ipV4();
const anyIpv6 = fc.ipV6();

test("parseAddress() accepts exactly what the system accepts as an address", () => {
  const nearlyAddress = fc.string({ unit: fc.constantFrom(..."0123456789abcdefF:.:.x% "), maxLength: 24 });
  fc.assert(
    fc.property(fc.oneof(anyIpv4, anyIpv6, nearlyAddress), (text) => {
      const known = text.includes("%") ? 0 : isIP(text);
      expect(parseAddress(text)?.length).toBe(known === 0 ? undefined : known === 4 ? 4 : 16);
    }),
    { numRuns: 2000 },
  );
});

test.each([
  ["1.2.3.4", [1, 2, 3, 4]],
  ["::", Array(16).fill(0)],
  ["::1", [...Array(15).fill(0), 1]],
  ["2001:db8::ff00:42", [0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0, 0, 0x42]],
  ["::ffff:192.0.2.1", [...Array(10).fill(0), 0xff, 0xff, 192, 0, 2, 1]],
  ["1:2:3:4:5:6:7::", [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 0]],
])("parseAddress() returns the bytes of %s", (text, bytes) => {
  expect(parseAddress(text)).toEqual(bytes);
});

test.each([
  "",
  " ",
  "1.2.3",
  "1.2.3.4.5",
  "1.2.3.256",
  "01.2.3.4",
  "0x7f.0.0.1",
  "2130706433",
  "1.2.3.4 ",
  "1.2.3.4\n",
  ":::",
  "1::2::3",
  "1:2:3:4:5:6:7:8:9",
  "1:2:3:4:5:6:7",
  "12345::",
  "1.2.3.4::",
  "::1.2.3",
  "::1%lo",
  "fe80::1%eth0",
  "[::1]",
  "١.٢.٣.٤",
])("parseAddress() refuses %j", (text) => {
  expect(parseAddress(text)).toBeUndefined();
});

describe("isPublicAddress()", () => {
  test.each([
    "1.1.1.1",
    "8.8.8.8",
    "100.63.255.255",
    "100.128.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2606:4700:4700::1111",
    "2a00:1450:4001:81b::200e",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
  ])("accepts %s", (ip) => {
    expect(isPublicAddress(ip)).toBe(true);
  });

  test.each([
    ["unspecified", "0.0.0.0"],
    ["this network", "0.1.2.3"],
    ["private", "10.0.0.1"],
    ["private", "172.16.0.1"],
    ["private", "172.31.255.255"],
    ["private", "192.168.1.1"],
    ["carrier-grade NAT", "100.64.0.1"],
    ["carrier-grade NAT", "100.127.255.255"],
    ["metadata elsewhere", "100.100.100.200"],
    ["loopback", "127.0.0.1"],
    ["loopback", "127.255.255.254"],
    ["link-local", "169.254.0.1"],
    ["metadata", "169.254.169.254"],
    ["protocol assignments", "192.0.0.192"],
    ["documentation", "192.0.2.1"],
    ["documentation", "198.51.100.1"],
    ["documentation", "203.0.113.1"],
    ["benchmarking", "198.18.0.1"],
    ["benchmarking", "198.19.255.255"],
    ["multicast", "224.0.0.1"],
    ["reserved", "240.0.0.1"],
    ["broadcast", "255.255.255.255"],
    ["unspecified", "::"],
    ["loopback", "::1"],
    ["unique local", "fc00::1"],
    ["metadata", "fd00:ec2::254"],
    ["link-local", "fe80::1"],
    ["site-local", "fec0::1"],
    ["multicast", "ff02::1"],
    ["documentation", "2001:db8::1"],
    ["documentation", "3fff::1"],
    ["discard", "100::1"],
    ["Teredo", "2001:0:4136:e378:8000:63bf:3fff:fdd2"],
    ["6to4 of a private address", "2002:a00:1::1"],
    ["IPv4-mapped", "::ffff:10.0.0.1"],
    ["IPv4-mapped in hexadecimal", "::ffff:7f00:1"],
    ["IPv4-compatible", "::127.0.0.1"],
    ["IPv4-translated", "::ffff:0:127.0.0.1"],
    ["NAT64", "64:ff9b::169.254.169.254"],
    ["local NAT64", "64:ff9b:1::808:808"],
    ["a zone id", "2606:4700:4700::1111%eth0"],
    ["octal", "0177.0.0.1"],
    ["hexadecimal", "0x8.8.8.8"],
    ["an integer", "134744072"],
    ["a shortened address", "8.8"],
    ["a name", "example.com"],
    ["nothing", ""],
  ])("refuses %s: %s", (_why, ip) => {
    expect(isPublicAddress(ip)).toBe(false);
  });

  test("never accepts a refused IPv4 address because it is wrapped in IPv6", () => {
    fc.assert(
      fc.property(anyIpv4, fc.constantFrom("::", "::ffff:", "64:ff9b::", "::ffff:0:"), (ip, prefix) => {
        if (!isPublicAddress(ip)) expect(isPublicAddress(prefix + ip)).toBe(false);
      }),
      { numRuns: 2000 },
    );
  });

  test("accepts no IPv6 address outside the global unicast block", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(0xffff), { minLength: 8, maxLength: 8 }), (groups) => {
        const ip = groups.map((group) => group.toString(16)).join(":");
        if (groups[0]! >> 13 !== 1) expect(isPublicAddress(ip)).toBe(false);
      }),
    );
  });
});

describe("isHostName()", () => {
  test.each([
    "example.com",
    "localhost",
    "a.b-c.d",
    "xn--bcher-kva.example",
    "3com.com",
    "EXAMPLE.com.",
    "a".repeat(63),
  ])("accepts %s", (text) => {
    expect(isHostName(text)).toBe(true);
  });

  test.each([
    "",
    ".",
    "-a.com",
    "a-.com",
    "a..com",
    ".a.com",
    "a b",
    "a\n",
    "a\0.com",
    "a_b.com",
    "$(id)",
    "bücher.example",
    "a".repeat(64),
    `${"a.".repeat(127)}aa`,
    "127.0.0.1",
    "127.1",
    "0x7f.0.0.1",
    "127.0x1",
    "2130706433",
    "::1",
    "[::1]",
  ])("refuses %j", (text) => {
    expect(isHostName(text)).toBe(false);
  });

  test("accepts every domain name, and none is an address", () => {
    fc.assert(
      fc.property(fc.domain(), (name) => {
        expect(isHostName(name)).toBe(true);
        expect(parseAddress(name)).toBeUndefined();
      }),
    );
  });
});

test.each([
  ["127.0.0.1", true],
  ["127.255.255.255", true],
  ["::1", true],
  ["0:0:0:0:0:0:0:1", true],
  ["::ffff:127.0.0.1", true],
  ["128.0.0.1", false],
  ["10.0.0.1", false],
  ["::2", false],
  ["::ffff:10.0.0.1", false],
  ["localhost", false],
  ["", false],
])("isLoopbackAddress(%p) is %p", (address, isLoopback) => {
  expect(isLoopbackAddress(address)).toBe(isLoopback);
});
