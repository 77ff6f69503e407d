import { Elysia, t } from "elysia";
import type { CertificateUseCases } from "../../application/certificates/use_cases.ts";
import type { Access } from "../access.ts";
import { operation } from "../operation.ts";
import { done, object, text, Time } from "../schema.ts";

const RenewBody = object({
  domain: text(253, { description: "Host name of a verified custom domain", examples: ["www.example.com"] }),
});

const Renewed = done({
  domain: t.String({ description: "The host name", examples: ["www.example.com"] }),
  status: t.Literal("valid", { description: "Always valid: the certificate was issued and is served" }),
  notAfter: t.String({ ...Time, description: "Time when the certificate expires" }),
  issuer: t.String({ description: "The authority that issued it", examples: ["R11"] }),
});

/** Routes of the certificates of host names. */
export function certificateRoutes(access: Access, useCases: CertificateUseCases) {
  return new Elysia({ prefix: "/api/deployments/ssl", tags: ["Certificates"] }).use(access).post(
    "/renew",
    async ({ principal, body, request }) => {
      const { hostname, notAfter, issuer } = await useCases.renewCertificate(principal, body.domain, request.signal);
      return { success: true, domain: hostname, status: "valid", notAfter: notAfter.toISOString(), issuer };
    },
    {
      permission: "deployment:write",
      body: RenewBody,
      ...operation({
        name: "certificate.renew",
        summary: "Order a new certificate for a domain now, or wait for the order that is under way",
        answer: Renewed,
        problems: [404, 409, 429, 502],
      }),
    },
  );
}
