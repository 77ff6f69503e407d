import { CaddyEdge } from "../adapters/edge/caddy/caddy_edge.ts";
import { Caddy } from "../tests/support/peers/caddy.ts";
import { testCertificate } from "../tests/support/servers/test_certificate.ts";
import { testPort } from "../tests/support/servers/test_port.ts";

/** Caddy as the edge, with one upstream app. Prints its ports, plain and for TLS. */
const [appPort] = process.argv.slice(2);
const hostname = "app.localhost";
const caddy = await Caddy.start();
const edge = new CaddyEdge({ admin: caddy.adminAddress, httpsRedirect: false });
await edge.listen({ host: "127.0.0.1", port: testPort().port, tlsPort: testPort().port });
const target = { kind: "address", host: "127.0.0.1", port: Number(appPort) } as const;
const route = { hostname, pathPrefix: "/", projectId: "prj_bench", servedBy: "dep_bench", target };
await edge.load([route], [testCertificate(hostname)]);
process.stdout.write(`${edge.port} ${edge.tlsPort}\n`);
process.once("SIGTERM", async () => {
  await edge.stop(0);
  await caddy[Symbol.asyncDispose]();
  process.exit(0);
});
