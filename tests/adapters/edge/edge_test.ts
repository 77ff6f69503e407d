import { X509Certificate } from "node:crypto";
import { MemoryEdge } from "../../../adapters/memory/edge.ts";
import { edgeWithApps } from "../../support/servers/edge_with_apps.ts";
import { runningTlsEdge } from "../../support/servers/running_edge.ts";
import { edgeContract } from "../../contracts/edge.ts";

edgeContract("memory", async () => {
  const edge = new MemoryEdge();
  return {
    edge,
    target: () => ({ kind: "address", host: "127.0.0.1", port: 1 }),
    async ask(host, path) {
      const route = edge.routeOf(host, path.split("?")[0] ?? "");
      return route?.target.kind === "text" ? route.target.text : route?.servedBy;
    },
    async presented(serverName) {
      const certificate = edge.certificateOf(serverName);
      return certificate && new X509Certificate(certificate.chain).fingerprint256;
    },
    async begin(host, path) {
      const end = edge.begin(edge.routeOf(host, path)?.servedBy ?? "");
      return async () => end();
    },
    async [Symbol.asyncDispose]() {},
  };
});

edgeContract("HTTP/1.1 proxy", async () => {
  return edgeWithApps(await runningTlsEdge());
});
