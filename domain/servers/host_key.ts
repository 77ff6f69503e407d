import { keyFingerprint } from "../openssh/key_fingerprint.ts";

const FINGERPRINT = /^SHA256:[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]$/;
const KEY_TYPE = /^(?:ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(?:256|384|521))$/;

/**
 * Parses a host key as users paste it and resolves to its fingerprint: accepts a `SHA256:…` fingerprint, an OpenSSH
 * public key line or a `known_hosts` line; `undefined` for anything else.
 */
export async function readHostKey(text: string): Promise<string | undefined> {
  const line = text.trim();
  if (FINGERPRINT.test(line)) return line;
  if (/[\r\n]/.test(line) || line.startsWith("@")) return undefined;
  const words = line.split(/[ \t]+/);
  const at = words.slice(0, 2).findIndex((word) => KEY_TYPE.test(word));
  const [type, encoded] = words.slice(at, at + 2);
  const key = at === -1 || !encoded ? undefined : decode(encoded);
  if (!type || !key || !declares(key, type)) return undefined;
  return keyFingerprint(key);
}

function decode(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.fromBase64(base64, { lastChunkHandling: "strict" });
  } catch {
    return undefined;
  }
}

/** Returns whether the key data starts with the name of this key type, as defined in RFC 4253. */
function declares(key: Uint8Array, type: string): boolean {
  const name = new TextEncoder().encode(type);
  const start = [0, 0, 0, name.length, ...name];
  return key.length > start.length && start.every((byte, index) => key[index] === byte);
}
