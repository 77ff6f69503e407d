import { createPrivateKey } from "node:crypto";
import type { ParsedKey, utils } from "ssh2";
import { Failure } from "../../domain/failure.ts";
import type { Secret } from "../../domain/secret.ts";

/** Parses a private key with its passphrase. Throws `misconfigured` with a reason that contains nothing of the key. */
export function openPrivateKey(key: Secret, passphrase: Secret | undefined, parse: typeof utils.parseKey): ParsedKey {
  const text = key.reveal().trim();
  const phrase = passphrase?.reveal();
  const parsed = /^-----BEGIN (?:ENCRYPTED )?PRIVATE KEY-----/.test(text)
    ? parse(openPkcs8(text, phrase))
    : parse(text, phrase);
  if (parsed instanceof Error) throw unusable(parsed.message, phrase);
  // The type declares a single key, but the OpenSSH format may hold several. The first one is used.
  const first: ParsedKey | undefined = [parsed].flat()[0];
  if (!first?.isPrivateKey()) {
    throw misconfigured("it is a public key. Give the private key that belongs to it.");
  }
  return first;
}

/** Converts PKCS #8, which cloud consoles and openssl produce, to the older format that ssh2 reads. */
function openPkcs8(text: string, passphrase: string | undefined): string {
  try {
    const key = createPrivateKey({ key: text, ...(passphrase === undefined ? {} : { passphrase }) });
    return key.export({ format: "pem", type: key.asymmetricKeyType === "rsa" ? "pkcs1" : "sec1" }).toString();
  } catch (error) {
    throw unusable(error instanceof Error ? error.message : "", passphrase);
  }
}

function unusable(reason: string, passphrase: string | undefined): Failure {
  const encrypted = /passphrase|decrypt|integrity check/i.test(reason);
  if (encrypted && !passphrase) return misconfigured("it is protected by a passphrase, and none is given.");
  if (encrypted) return misconfigured("the passphrase does not open it.");
  return misconfigured("its format is not known. Give an OpenSSH or PEM private key, whole and unchanged.");
}

function misconfigured(why: string): Failure {
  return new Failure("remote_failed", "misconfigured", `Cannot use the private key: ${why}`);
}
