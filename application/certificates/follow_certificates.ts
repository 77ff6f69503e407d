import type { Certificate } from "../../domain/certificates/certificate.ts";
import type { CertificateOrders, PublishedProof } from "../../ports/domains/certificate_orders.ts";
import type { Certificates } from "../../ports/domains/certificates.ts";
import type { Edge } from "../../ports/domains/edge.ts";

export interface FollowCertificatesPorts {
  readonly certificateOrders: CertificateOrders;
  readonly certificates: Certificates;
  readonly edge: Edge;
}

const CHALLENGE_PATH = "/.well-known/acme-challenge";

/**
 * Keeps this process's edge in sync with the certificates and with the proofs of orders under way, whichever process
 * changed them: of one host name, or with `null` of all. Applies changes one at a time, so that the last one wins.
 */
export function followCertificates({ certificateOrders, certificates, edge }: FollowCertificatesPorts) {
  /** What the edge presents: the digests of certificates, by host name. */
  const presented = new Map<string, string>();
  /** What the edge proves: tokens, by host name. */
  const proven = new Map<string, string>();
  let last: Promise<unknown> = Promise.resolve();
  return function (hostname: string | null): Promise<void> {
    const turn = last.then(() => (hostname === null ? followAll() : follow(hostname)));
    last = turn.catch(() => {});
    return turn;
  };

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
    for (const hostname of new Set([...presented.keys(), ...all.keys()])) await present(hostname, all.get(hostname));
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
