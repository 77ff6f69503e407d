import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { der } from "../../../adapters/shared/der.ts";

const DAY_MS = 86_400_000;

/** DER-encoded object identifiers. */
const OID = {
  commonName: "550403",
  ecdsaWithSha256: "2a8648ce3d040302",
  basicConstraints: "551d13",
  subjectAltName: "551d11",
} as const;

/** A certificate to issue. */
export interface CertificateRequest {
  /** The common name. Defaults to none. */
  readonly subject?: string;
  /** The host names that it is for. Defaults to none. */
  readonly names?: readonly string[];
  /** The authority that signs it. Defaults to the certificate itself. */
  readonly issuer?: IssuedCertificate;
  readonly isAuthority?: boolean;
  /** Defaults to a day ago. */
  readonly notBefore?: Date;
  /** Defaults to a day from now. */
  readonly notAfter?: Date;
}

/** A private key and its certificate, both in PEM. */
export interface IssuedCertificate {
  readonly key: string;
  readonly cert: string;
  readonly privateKey: KeyObject;
  /** The distinguished name of the subject, in DER. */
  readonly subject: Buffer;
}

/** Issues a certificate with a new private key. */
export function issueCertificate(request: CertificateRequest): IssuedCertificate {
  const { issuer, names = [], notBefore = inDays(-1), notAfter = inDays(1), isAuthority = false } = request;
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const algorithm = sequence(oid("ecdsaWithSha256"));
  const subject = distinguishedName(request.subject);
  const tbs = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.of(1), randomBytes(8)),
    algorithm,
    issuer?.subject ?? subject,
    sequence(utcTime(notBefore), utcTime(notAfter)),
    subject,
    publicKey.export({ format: "der", type: "spki" }),
    der(0xa3, sequence(...extensions(names, isAuthority))),
  );
  const signed = sign("sha256", tbs, issuer?.privateKey ?? privateKey);
  return {
    key: privateKey.export({ format: "pem", type: "pkcs8" }).toString(),
    cert: pem(sequence(tbs, algorithm, der(0x03, Buffer.of(0), signed))),
    privateKey,
    subject,
  };
}

function inDays(days: number): Date {
  return new Date(Date.now() + days * DAY_MS);
}

function distinguishedName(commonName: string | undefined): Buffer {
  if (commonName === undefined) return sequence();
  return sequence(der(0x31, sequence(oid("commonName"), der(0x0c, Buffer.from(commonName)))));
}

function extensions(names: readonly string[], isAuthority: boolean): Buffer[] {
  const constraints = isAuthority ? sequence(der(0x01, Buffer.of(0xff))) : sequence();
  const own = extension("basicConstraints", constraints);
  if (names.length === 0) return [own];
  return [own, extension("subjectAltName", sequence(...names.map((name) => der(0x82, Buffer.from(name)))))];
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, ...parts);
}

function oid(name: keyof typeof OID): Buffer {
  return der(0x06, Buffer.from(OID[name], "hex"));
}

function extension(name: keyof typeof OID, value: Buffer): Buffer {
  return sequence(oid(name), der(0x04, value));
}

function utcTime(at: Date): Buffer {
  const digits = at.toISOString().replace(/\D/g, "").slice(2, 14);
  return der(0x17, Buffer.from(`${digits}Z`));
}

function pem(bytes: Buffer): string {
  const lines = bytes.toString("base64").match(/.{1,64}/g) ?? [];
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
}
