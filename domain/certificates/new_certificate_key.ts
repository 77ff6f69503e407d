import { Secret } from "../secret.ts";

const LINE = /.{1,64}/g;

/** Makes a private key (ECDSA on P-256) in PEM format. */
export async function newCertificateKey(): Promise<Secret> {
  const pair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
  const bytes = new Uint8Array(await crypto.subtle.exportKey("pkcs8", pair.privateKey));
  const lines = bytes.toBase64().match(LINE)!.join("\n");
  return new Secret(`-----BEGIN PRIVATE KEY-----\n${lines}\n-----END PRIVATE KEY-----\n`);
}
