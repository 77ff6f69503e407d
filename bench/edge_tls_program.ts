import { EdgeServer } from "../adapters/edge/edge_server.ts";
import { selfSigned } from "../adapters/shared/self_signed.ts";
import { Secret } from "../domain/secret.ts";

/**
 * The edge in a separate process, plain and over TLS, with one upstream app. Prints both ports. Replaces its certificate
 * at SIGUSR2, and prints a line once that is done.
 */
const [appPort] = process.argv.slice(2);
const hostname = "app.localhost";
const edge = new EdgeServer({ httpsRedirect: false });
await edge.listen({ host: "127.0.0.1", port: 0, tlsPort: 0 });
const target = { kind: "address", host: "127.0.0.1", port: Number(appPort) } as const;
edge.load([{ hostname, pathPrefix: "/", projectId: "prj_bench", servedBy: "dep_bench", target }]);
await renew();
process.stdout.write(`${edge.port} ${edge.tlsPort}\n`);
process.on("SIGUSR2", () => void renew().then(() => process.stdout.write("renewed\n")));
process.once("SIGTERM", () => void edge.stop(0).then(() => process.exit(0)));

async function renew(): Promise<void> {
  const { cert, key } = selfSigned(hostname);
  await edge.present(hostname, { hostname, chain: cert, key: new Secret(key) });
}
