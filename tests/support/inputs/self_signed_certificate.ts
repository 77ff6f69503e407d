import { generateKeyPairSync, randomBytes, sign } from "node:crypto";

const DAY_MS = 86_400_000;

/** DER-encoded object identifiers. */
const OID = {
  commonName: "550403",
  ecdsaWithSha256: "2a8648ce3d040302",
  basicConstraints: "551d13",
  subjectAltName: "551d11",
} as const;

/** A private key and a self-signed certificate for one host name, valid for a day, both in PEM. */
export function selfSignedCertificate(name: string): { readonly key: string; readonly cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const algorithm = sequence(oid("ecdsaWithSha256"));
  const subject = sequence(der(0x31, sequence(oid("commonName"), der(0x0c, Buffer.from(name)))));
  const now = Date.now();
  const tbs = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.concat([Buffer.of(1), randomBytes(8)])),
    algorithm,
    subject,
    sequence(utcTime(now - DAY_MS), utcTime(now + DAY_MS)),
    subject,
    publicKey.export({ format: "der", type: "spki" }),
    der(
      0xa3,
      sequence(
        extension("basicConstraints", sequence(der(0x01, Buffer.of(0xff)))),
        extension("subjectAltName", sequence(der(0x82, Buffer.from(name)))),
      ),
    ),
  );
  const signature = der(0x03, Buffer.concat([Buffer.of(0), sign("sha256", tbs, privateKey)]));
  return {
    key: privateKey.export({ format: "pem", type: "pkcs8" }).toString(),
    cert: pem(sequence(tbs, algorithm, signature)),
  };
}

/** Encodes a DER value: tag, length, content. */
function der(tag: number, content: Buffer): Buffer {
  const size = content.length;
  const length = size < 0x80 ? [size] : size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function oid(name: keyof typeof OID): Buffer {
  return der(0x06, Buffer.from(OID[name], "hex"));
}

function extension(name: keyof typeof OID, value: Buffer): Buffer {
  return sequence(oid(name), der(0x04, value));
}

function utcTime(at: number): Buffer {
  const digits = new Date(at).toISOString().replace(/\D/g, "").slice(2, 14);
  return der(0x17, Buffer.from(`${digits}Z`));
}

function pem(bytes: Buffer): string {
  const lines = bytes.toString("base64").match(/.{1,64}/g) ?? [];
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
}
