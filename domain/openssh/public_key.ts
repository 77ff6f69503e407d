import { WireWriter } from "./wire_writer.ts";

/** The name of Ed25519 keys and signatures in the SSH protocol. */
export const ED25519 = "ssh-ed25519";

/** Returns the form of an Ed25519 public key that the SSH protocol uses. */
export function publicKeyBlob(publicKey: Uint8Array): Uint8Array<ArrayBuffer> {
  return new WireWriter().string(ED25519).string(publicKey).end();
}

/** Returns the line of an Ed25519 public key for `authorized_keys` files, which git servers accept as a deploy key. */
export function publicKeyLine(publicKey: Uint8Array, comment: string): string {
  return `${ED25519} ${publicKeyBlob(publicKey).toBase64()} ${comment}`;
}
