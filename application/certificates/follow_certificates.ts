import type { Certificate } from "../../domain/certificates/certificate.ts";
import type { CertificateOrders, PublishedProof } from "../../ports/domains/certificate_orders.ts";
import type { Certificates } from "../../ports/domains/certificates.ts";
import type { Edge, EdgeCertificate, EdgeRoute } from "../../ports/domains/edge.ts";

export interface FollowCertificatesPorts {
  readonly certificateOrders: CertificateOrders;
  readonly certificates: Certificates;
  readonly edge: Edge;
}

/** What an edge has for certificates: the routes of proofs, and what it presents. */
export interface CertificateState {
  readonly proofs: readonly EdgeRoute[];
  readonly certificates: readonly EdgeCertificate[];
}

const CHALLENGE_PATH = "/.well-known/acme-challenge";

/**
 * Keeps this process's edge in sync with the certificates and with the proofs of orders under way, whichever process
 * changed them. Applies changes one at a time, so that the last one wins.
 */
export function followCertificates({ certificateOrders, certificates, edge }: FollowCertificatesPorts) {
  /** What the edge presents: the digests of certificates, by host name. */
  const presented = new Map<string, string>();
  /** What the edge proves: tokens, by host name. */
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
    const proofs = await certificateOrders.proofs();
    const all = await certificates.list();
    await apply({ proofs: proofs.map(routeOf), certificates: all });
    for (const { hostname, token } of proofs) proven.set(hostname, token);
    for (const { hostname, fingerprint256 } of all) presented.set(hostname, fingerprint256);
  }

  async function follow(hostname: string): Promise<void> {
    const proofs = await certificateOrders.proofs();
    await prove(
      hostname,
      proofs.find((proof) => proof.hostname === hostname),
    );
    await present(hostname, await certificates.find(hostname));
  }

  async function followAll(): Promise<void> {
    const proofs = new Map((await certificateOrders.proofs()).map((proof) => [proof.hostname, proof]));
    for (const hostname of new Set([...proven.keys(), ...proofs.keys()])) await prove(hostname, proofs.get(hostname));
    const all = new Map((await certificates.list()).map((certificate) => [certificate.hostname, certificate]));
    const hostnames = new Set([...presented.keys(), ...all.keys()]);
    const failures: unknown[] = [];
    // One that is unusable does not keep the others from visitors.
    for (const hostname of hostnames) await present(hostname, all.get(hostname)).catch((error) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  }

  async function prove(hostname: string, proof: PublishedProof | undefined): Promise<void> {
    if (proven.get(hostname) === proof?.token) return;
    await edge.switch(`acme:${hostname}`, proof ? [routeOf(proof)] : []);
    if (proof) proven.set(hostname, proof.token);
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

function routeOf({ hostname, token, text }: PublishedProof) {
  const owner = `acme:${hostname}`;
  const pathPrefix = `${CHALLENGE_PATH}/${token}`;
  return { hostname, pathPrefix, projectId: owner, servedBy: owner, target: { kind: "text", text } } as const;
}
