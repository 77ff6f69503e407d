import { EdgeServer } from "../adapters/edge/edge_server.ts";

/** The edge in a separate process, with one upstream app. Prints its port. */
const [appPort] = process.argv.slice(2);
const edge = new EdgeServer();
await edge.listen({ host: "127.0.0.1", port: 0 });
const target = { kind: "address", host: "127.0.0.1", port: Number(appPort) } as const;
edge.load([{ hostname: "app.localhost", pathPrefix: "/", projectId: "prj_bench", servedBy: "dep_bench", target }]);
process.stdout.write(`${edge.port}\n`);
process.once("SIGTERM", () => void edge.stop(0).then(() => process.exit(0)));
