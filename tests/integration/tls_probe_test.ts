import { MemoryTlsProbe } from "../../adapters/memory/tls_probe.ts";
import { NodeTlsProbe } from "../../adapters/tls/node_tls_probe.ts";
import type { Handshake } from "../../domain/certificates/handshake.ts";
import { type PresentedOnStage, type ServerBehaviour, tlsProbeContract } from "../contracts/tls_probe.ts";
import { TlsServers } from "../support/peers/tls_servers.ts";

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);

tlsProbeContract("memory", async () => {
  const probe = new MemoryTlsProbe();
  let port = 0;
  return {
    probe,
    serve: async (behaviour) => {
      if (behaviour === "absent") return ++port;
      probe.serve("127.0.0.1", ++port, (hostname) => simulated(behaviour, hostname));
      return port;
    },
    async [Symbol.asyncDispose]() {},
  };
});

tlsProbeContract("node:tls", async () => {
  const servers = new TlsServers();
  return {
    probe: new NodeTlsProbe({ authorities: [servers.trusted], timeoutMs: 2_000 }),
    serve: (behaviour) => servers.serve(behaviour),
    [Symbol.asyncDispose]: () => servers[Symbol.asyncDispose](),
  };
});

const SIMULATED: Readonly<Record<Exclude<ServerBehaviour, "absent" | "by_name">, Handshake>> = {
  silent: { kind: "unreachable", cause: "no_answer" },
  trickling: { kind: "unreachable", cause: "no_answer" },
  plain_http: { kind: "none", cause: "no_tls" },
  greeting: { kind: "none", cause: "no_tls" },
  closing: { kind: "none", cause: "closed" },
  closing_after_hello: { kind: "none", cause: "closed" },
  resetting: { kind: "none", cause: "closed" },
  declining: { kind: "none", cause: "declined" },
  outdated: { kind: "none", cause: "outdated_tls" },
  outdated_hello: { kind: "none", cause: "outdated_tls" },
};

function simulated(behaviour: PresentedOnStage | Exclude<ServerBehaviour, "absent">, hostname: string): Handshake {
  if (behaviour === "by_name") return simulated({ names: [hostname], from: -1, to: 1, chain: "complete" }, hostname);
  if (typeof behaviour === "string") return SIMULATED[behaviour];
  const { subject = "", names, from, to, chain } = behaviour;
  const certificate = {
    issuer: chain === "self_signed" ? subject : "Test Authority",
    subject,
    names: names.map((name) => name.toLowerCase()).filter((name) => /^[a-z0-9*.-]+$/.test(name)),
    notBefore: inDays(from),
    notAfter: inDays(to),
    fingerprint256: Array(32).fill("AB").join(":"),
  };
  return { kind: "presented", certificate, chainFault: chain === "complete" ? null : chain };
}
