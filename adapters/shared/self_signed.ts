import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { der } from "./der.ts";

/** A certificate and its private key, in PEM format. */
export interface SelfSigned {
  readonly cert: string;
  readonly key: string;
}

/** What a certificate is made with. */
export interface SelfSignedOptions {
  /** Defaults to a new P-256 key. Another one has to be for ECDSA too. */
  readonly privateKey?: KeyObject;
  /** Defaults to a day ago, for clients whose clock is behind. */
  readonly notBefore?: Date;
  /** Defaults to a year from now. */
  readonly notAfter?: Date;
}

const DAY_MS = 24 * 3_600_000;
/** DER tags (X.690). */
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const OBJECT = 0x06;
const UTF8_STRING = 0x0c;
const UTC_TIME = 0x17;
const SEQUENCE = 0x30;
const SET = 0x31;
/** A field of a structure with this number, which has parts; and a name in a list of names (`dNSName`). */
const VERSION = 0xa0;
const EXTENSIONS = 0xa3;
const DNS_NAME = 0x82;
/** Object identifiers: ecdsa-with-SHA256, commonName, subjectAltName. */
const ECDSA_SHA256 = der(OBJECT, Buffer.from("2a8648ce3d040302", "hex"));
const COMMON_NAME = der(OBJECT, Buffer.from("550403", "hex"));
const ALT_NAME = der(OBJECT, Buffer.from("551d11", "hex"));

/** Makes a certificate for a host name that signs itself, so that no browser trusts it (RFC 5280). */
export function selfSigned(hostname: string, options: SelfSignedOptions = {}): SelfSigned {
  const { privateKey = newKey(), notBefore = inDays(-1), notAfter = inDays(365) } = options;
  const algorithm = der(SEQUENCE, ECDSA_SHA256);
  const name = der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, der(UTF8_STRING, Buffer.from(hostname)))));
  const names = der(SEQUENCE, der(DNS_NAME, Buffer.from(hostname)));
  const content = der(
    SEQUENCE,
    der(VERSION, der(INTEGER, Buffer.of(2))),
    // Positive, and without a leading zero byte.
    der(INTEGER, Buffer.of(0x40), randomBytes(15)),
    algorithm,
    name,
    der(SEQUENCE, time(notBefore), time(notAfter)),
    name,
    createPublicKey(privateKey).export({ type: "spki", format: "der" }),
    der(EXTENSIONS, der(SEQUENCE, der(SEQUENCE, ALT_NAME, der(OCTET_STRING, names)))),
  );
  const signature = sign("sha256", content, privateKey);
  const bytes = der(SEQUENCE, content, algorithm, der(BIT_STRING, Buffer.of(0), signature));
  const lines = bytes.toString("base64").replace(/.{64}(?=.)/g, "$&\n");
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
  };
}

function newKey(): KeyObject {
  return generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
}

function inDays(days: number): Date {
  return new Date(Date.now() + days * DAY_MS);
}

function time(at: Date): Buffer {
  const digits = at.toISOString().replace(/\D/g, "");
  return der(UTC_TIME, Buffer.from(`${digits.slice(2, 14)}Z`));
}
