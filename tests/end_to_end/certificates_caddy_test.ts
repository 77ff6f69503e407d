import { test } from "bun:test";
import { Caddy } from "../support/peers/caddy.ts";
import { expectServedThroughRenewals } from "../support/servers/served_through_renewals.ts";

test("with EDGE=caddy, a certificate is issued, served and renewed under constant TLS requests without a failed handshake", async () => {
  await using caddy = await Caddy.start();
  const files = { "server.js": 'Bun.serve({ port: process.env.PORT, fetch: () => new Response("It works") });' };
  // An app, because static sites are not served without the server.
  const app = { files, startCommand: "bun server.js" };
  await expectServedThroughRenewals({ EDGE: "caddy", CADDY_ADMIN: caddy.adminAddress }, app);
});
