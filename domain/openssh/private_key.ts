import type { Ed25519Key } from "./ed25519_key.ts";
import { ED25519, publicKeyBlob } from "./public_key.ts";
import { WireReader } from "./wire_reader.ts";
import { WireWriter } from "./wire_writer.ts";

const MAGIC = "openssh-key-v1\0";
const BEGIN = "-----BEGIN OPENSSH PRIVATE KEY-----";
const END = "-----END OPENSSH PRIVATE KEY-----";
const BLOCK = 8;
const LINE = 70;

/** Returns an Ed25519 key in the format of OpenSSH's private key files, without a passphrase. */
export function formatPrivateKey({ seed, publicKey }: Ed25519Key, comment: string): string {
  const check = crypto.getRandomValues(new Uint32Array(1))[0]!;
  const pair = new WireWriter().bytes(seed).bytes(publicKey).end();
  const secrets = new WireWriter().uint32(check).uint32(check);
  secrets.string(ED25519).string(publicKey).string(pair).string(comment);
  for (let padding = 1; secrets.end().length % BLOCK !== 0; padding++) secrets.byte(padding);
  const file = new WireWriter().bytes(new TextEncoder().encode(MAGIC)).string("none").string("none").string("");
  const whole = file.uint32(1).string(publicKeyBlob(publicKey)).string(secrets.end()).end();
  const lines = whole.toBase64().match(new RegExp(`.{1,${LINE}}`, "g")) ?? [];
  return `${[BEGIN, ...lines, END].join("\n")}\n`;
}

/** Parses the private key file of an Ed25519 key without a passphrase; `undefined` for anything else. */
export function readPrivateKey(text: string): Ed25519Key | undefined {
  const body = text.trim();
  if (!body.startsWith(BEGIN) || !body.endsWith(END)) return undefined;
  try {
    const file = new WireReader(Uint8Array.fromBase64(body.slice(BEGIN.length, -END.length)));
    if (new TextDecoder().decode(file.bytes(MAGIC.length)) !== MAGIC) return undefined;
    if (file.text() !== "none" || file.text() !== "none" || file.text() !== "" || file.uint32() !== 1) return undefined;
    file.string();
    return pairIn(new WireReader(file.string()));
  } catch {
    return undefined;
  }
}

function pairIn(secrets: WireReader): Ed25519Key | undefined {
  if (secrets.uint32() !== secrets.uint32() || secrets.text() !== ED25519) return undefined;
  const publicKey = secrets.string();
  const pair = secrets.string();
  return publicKey.length === 32 && pair.length === 64 ? { seed: pair.slice(0, 32), publicKey } : undefined;
}
