import type { Certificate } from "../../domain/certificates/certificate.ts";
import type { Certificates } from "../../ports/domains/certificates.ts";
import type { Edge, EdgeCertificate, EdgeRoute } from "../../ports/domains/edge.ts";
import { proofOwner, proofRoutes, type ProofRoutesPorts } from "./proof_routes.ts";

export interface FollowCertificatesPorts extends ProofRoutesPorts {
  readonly certificates: Certificates;
  readonly edge: Edge;
}

/** What an edge has for certificates: the routes of proofs, and what it presents. */
export interface CertificateState {
  readonly proofs: readonly EdgeRoute[];
  readonly certificates: readonly EdgeCertificate[];
}

/**
 * Keeps this process's edge in sync with the certificates and with the proofs that it answers with, whichever process
 * changed them. Applies changes one at a time, so that the last one wins.
 */
export function followCertificates(ports: FollowCertificatesPorts) {
  const { certificates, edge } = ports;
  const readProofs = proofRoutes(ports);
  /** What the edge presents: the digests of certificates, by host name. */
  const presented = new Map<string, string>();
  /** What the edge proves: paths, by host name. */
  const proven = new Map<string, string>();
  let last: Promise<unknown> = Promise.resolve();
  return {
    /** Hands over all that the edge has to begin with. Changes after it was read are followed once it is applied. */
    begin: (apply: (state: CertificateState) => Promise<void>) => inTurn(() => beginAll(apply)),
    /** Follows a change of one host name, or with `null` of any. */
    follow: (hostname: string | null) => inTurn(() => (hostname === null ? followAll() : follow(hostname))),
  };

  function inTurn(work: () => Promise<void>): Promise<void> {
    const turn = last.then(work);
    last = turn.catch(() => {});
    return turn;
  }

  async function beginAll(apply: (state: CertificateState) => Promise<void>): Promise<void> {
    const proofs = await readProofs();
    const all = await certificates.list();
    await apply({ proofs: [...proofs.values()].flat(), certificates: all });
    for (const [hostname, routes] of proofs) proven.set(hostname, pathsOf(routes));
    for (const { hostname, fingerprint256 } of all) presented.set(hostname, fingerprint256);
  }

  async function follow(hostname: string): Promise<void> {
    await prove(hostname, (await readProofs(hostname)).get(hostname) ?? []);
    await present(hostname, await certificates.find(hostname));
  }

  async function followAll(): Promise<void> {
    const proofs = await readProofs();
    for (const hostname of new Set([...proven.keys(), ...proofs.keys()]))
      await prove(hostname, proofs.get(hostname) ?? []);
    const all = new Map((await certificates.list()).map((certificate) => [certificate.hostname, certificate]));
    const hostnames = new Set([...presented.keys(), ...all.keys()]);
    const failures: unknown[] = [];
    // One that is unusable does not keep the others from visitors.
    for (const hostname of hostnames) await present(hostname, all.get(hostname)).catch((error) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  }

  async function prove(hostname: string, routes: readonly EdgeRoute[]): Promise<void> {
    const paths = pathsOf(routes);
    if ((proven.get(hostname) ?? "") === paths) return;
    await edge.switch(proofOwner(hostname), routes);
    if (routes.length > 0) proven.set(hostname, paths);
    else proven.delete(hostname);
  }

  async function present(hostname: string, certificate: Certificate | undefined): Promise<void> {
    if (presented.get(hostname) === certificate?.fingerprint256) return;
    if (certificate) {
      const { chain, key } = certificate;
      await edge.present(hostname, { hostname, chain, key });
      presented.set(hostname, certificate.fingerprint256);
    } else {
      await edge.present(hostname, null);
      presented.delete(hostname);
    }
  }
}

function pathsOf(routes: readonly EdgeRoute[]): string {
  return routes.map(({ pathPrefix }) => pathPrefix).join(" ");
}
