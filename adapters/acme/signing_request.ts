import { createPrivateKey, createPublicKey, sign } from "node:crypto";
import type { Secret } from "../../domain/secret.ts";
import { der } from "../shared/der.ts";

const SEQUENCE = 0x30;
const SET = 0x31;
const OBJECT_IDENTIFIER = 0x06;
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const ATTRIBUTES = 0xa0;
const DNS_NAME = 0x82;

const ECDSA_WITH_SHA256 = Buffer.from("2a8648ce3d040302", "hex");
const EXTENSION_REQUEST = Buffer.from("2a864886f70d01090e", "hex");
const SUBJECT_ALTERNATIVE_NAME = Buffer.from("551d11", "hex");

/**
 * Returns a certificate signing request (PKCS #10, in DER format) for one host name. The name is only in the
 * subjectAltName extension: authorities ignore the subject, which could hold 64 characters only.
 */
export function signingRequest(hostname: string, key: Secret): Buffer {
  const privateKey = createPrivateKey(key.reveal());
  const names = der(OCTET_STRING, der(SEQUENCE, der(DNS_NAME, Buffer.from(hostname, "latin1"))));
  const extension = der(SEQUENCE, der(OBJECT_IDENTIFIER, SUBJECT_ALTERNATIVE_NAME), names);
  const requested = der(SET, der(SEQUENCE, extension));
  const information = der(
    SEQUENCE,
    der(INTEGER, Buffer.of(0)),
    der(SEQUENCE),
    createPublicKey(privateKey).export({ format: "der", type: "spki" }),
    der(ATTRIBUTES, der(SEQUENCE, der(OBJECT_IDENTIFIER, EXTENSION_REQUEST), requested)),
  );
  const algorithm = der(SEQUENCE, der(OBJECT_IDENTIFIER, ECDSA_WITH_SHA256));
  const signature = der(BIT_STRING, Buffer.of(0), sign("sha256", information, privateKey));
  return der(SEQUENCE, information, algorithm, signature);
}
