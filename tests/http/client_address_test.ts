import { expect, test } from "bun:test";
import { memoryApp } from "../support/apps/app.ts";

test.each([
  {
    what: "no proxy is trusted",
    trustedProxies: [],
    peer: "203.0.113.9",
    forwarded: "198.51.100.1",
    from: "203.0.113.9",
  },
  {
    what: "the peer is not trusted",
    trustedProxies: ["10.0.0.0/8"],
    peer: "203.0.113.9",
    forwarded: "198.51.100.1",
    from: "203.0.113.9",
  },
  {
    what: "a trusted address",
    trustedProxies: ["10.0.0.1"],
    peer: "10.0.0.1",
    forwarded: "198.51.100.1",
    from: "198.51.100.1",
  },
  {
    what: "a trusted network",
    trustedProxies: ["10.0.0.0/8"],
    peer: "10.20.30.40",
    forwarded: "198.51.100.1",
    from: "198.51.100.1",
  },
  {
    what: "an entry forged by the client",
    trustedProxies: ["10.0.0.0/8"],
    peer: "10.0.0.1",
    forwarded: "127.0.0.1, 198.51.100.1",
    from: "198.51.100.1",
  },
  {
    what: "several trusted hops",
    trustedProxies: ["10.0.0.0/8", "192.0.2.0/24"],
    peer: "10.0.0.1",
    forwarded: "198.51.100.1, 192.0.2.7, 10.0.0.2",
    from: "198.51.100.1",
  },
  {
    what: "a client inside the trusted network",
    trustedProxies: ["10.0.0.0/8"],
    peer: "10.0.0.1",
    forwarded: "10.9.9.9, 10.0.0.2",
    from: "10.9.9.9",
  },
  { what: "IPv6", trustedProxies: ["fd00::/8"], peer: "fd00::1", forwarded: "2001:db8::7", from: "2001:db8::7" },
  {
    what: "IPv6 with a port",
    trustedProxies: ["fd00::/8"],
    peer: "fd00::1",
    forwarded: "[2001:db8::7]:443",
    from: "2001:db8::7",
  },
  {
    what: "a peer mapped to IPv6",
    trustedProxies: ["10.0.0.0/8"],
    peer: "::ffff:10.0.0.1",
    forwarded: "::ffff:198.51.100.1",
    from: "198.51.100.1",
  },
  {
    what: "a trusted address mapped to IPv6",
    trustedProxies: ["::ffff:10.0.0.1"],
    peer: "10.0.0.1",
    forwarded: "198.51.100.1",
    from: "198.51.100.1",
  },
  {
    what: "IPv4 in an IPv6 network that covers nothing of it",
    trustedProxies: ["::/0"],
    peer: "10.0.0.1",
    forwarded: "198.51.100.1",
    from: "10.0.0.1",
  },
  { what: "nonsense", trustedProxies: ["10.0.0.0/8"], peer: "10.0.0.1", forwarded: "<script>", from: "10.0.0.1" },
  {
    what: "nonsense behind a hop",
    trustedProxies: ["10.0.0.0/8"],
    peer: "10.0.0.1",
    forwarded: "unknown, 10.0.0.2",
    from: "10.0.0.2",
  },
  { what: "no header", trustedProxies: ["10.0.0.0/8"], peer: "10.0.0.1", forwarded: "", from: "10.0.0.1" },
])("the address of a change: $what", async ({ trustedProxies, peer, forwarded, from }) => {
  const app = await memoryApp({ trustedProxies });
  const headers = { "x-forwarded-for": forwarded, forwarded: "for=1.2.3.4", "x-real-ip": "1.2.3.4" };
  await app.call("POST", "/api/projects", { token: app.owner, peer, headers, body: { name: "Harbour" } });
  const entries = await app.call("GET", "/api/audit?action=project.create", { token: app.owner });
  expect(entries.body.data).toMatchObject([{ from }]);
});
