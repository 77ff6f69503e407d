import { Elysia, t } from "elysia";
import type { HostCertificateStatus } from "../../application/domains/read_certificate_status.ts";
import type { DomainUseCases } from "../../application/domains/use_cases.ts";
import type { Access } from "../access.ts";
import { CERTIFICATE_STATUS } from "../meanings.ts";
import { operation } from "../operation.ts";
import { described, done, explained, integer, nullable, object, text, Time } from "../schema.ts";

const SslBody = object({
  domain: text(253, {
    description: "Host name, without a scheme, port or path; internationalized ones in either notation",
    examples: ["www.example.com"],
  }),
});

const StatusResponse = done(
  described(
    {
      domain: t.String({ examples: ["www.example.com"] }),
      status: explained(CERTIFICATE_STATUS, { title: "CertificateStatus" }),
      reason: nullable(t.String()),
      issuer: nullable(t.String({ examples: ["R11"] })),
      subject: nullable(t.String({ examples: ["www.example.com"] })),
      names: t.Array(t.String({ examples: ["www.example.com"] })),
      notBefore: nullable(Time),
      notAfter: nullable(Time),
      daysLeft: nullable(integer({ examples: [71] })),
      fingerprint256: nullable(t.String()),
      chainValid: nullable(t.Boolean()),
    },
    {
      domain: "The host name, as it is written in DNS",
      status: "How the certificate is; where several things are wrong, reason names them all",
      reason: "What is wrong and what to do next; null if the certificate is valid",
      issuer: "Common name, or organization, of the authority; null if no certificate was presented",
      subject: "Common name, or organization, that it was issued to; null if none was presented",
      names: "Host names that it is for; empty if none was presented",
      notBefore: "Time from which it is valid; null if none was presented",
      notAfter: "Time when it expires; null if none was presented",
      daysLeft: "Full days until it expires, negative afterwards; null if none was presented",
      fingerprint256: "SHA-256 digest of the certificate, as hexadecimal pairs; null if none was presented",
      chainValid: "Whether it leads to an authority that browsers know; null if none was presented",
    },
  ),
);

const STATUS_DESCRIPTION = [
  "Looks the name up, connects to port 443 of each of its addresses, up to eight, and reports the worst certificate that",
  "it is shown, as a browser would judge it. It sends no request, changes nothing, and takes at most 15 seconds. It sees",
  "what everybody sees: a name of another organization gets the same response as on any other machine. Names of your own",
  "projects that have no address, or lead to this machine itself, such as those under `localhost`, are asked for at the",
  "edge (`EDGE_TLS_PORT`), except in cloud mode. In cloud mode, names with private addresses are refused with 400.",
  "Certificates that were revoked are not recognized.",
].join(" ");

/** Routes of the certificates that visitors of host names get. */
export function sslRoutes(access: Access, useCases: Pick<DomainUseCases, "readCertificateStatus">) {
  return new Elysia({ prefix: "/api/deployments/ssl", tags: ["Deployments"] })
    .use(access)
    .post(
      "/status",
      async ({ principal, body, request }) =>
        statusView(await useCases.readCertificateStatus(principal, body.domain, request.signal)),
      {
        permission: "deployment:read",
        body: SslBody,
        ...operation({
          name: "ssl.status",
          summary: "Check the certificate that visitors of a host name get; changes nothing",
          description: STATUS_DESCRIPTION,
          answer: StatusResponse,
          unaudited: true,
        }),
      },
    );
}

function statusView({ hostname, status, reason, certificate, daysLeft, chainValid }: HostCertificateStatus) {
  return {
    success: true,
    domain: hostname,
    status,
    reason,
    issuer: certificate?.issuer ?? null,
    subject: certificate?.subject ?? null,
    names: certificate?.names ?? [],
    notBefore: certificate?.notBefore.toISOString() ?? null,
    notAfter: certificate?.notAfter.toISOString() ?? null,
    daysLeft,
    fingerprint256: certificate?.fingerprint256 ?? null,
    chainValid,
  };
}
