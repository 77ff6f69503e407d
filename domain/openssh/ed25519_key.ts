/** An Ed25519 key pair as its raw bytes, 32 each. */
export interface Ed25519Key {
  readonly seed: Uint8Array;
  readonly publicKey: Uint8Array;
}

/** Returns a new random key pair. */
export async function newEd25519Key(): Promise<Ed25519Key> {
  const pair = (await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"])) as CryptoKeyPair;
  // The seed is at the end of the key's PKCS #8 form.
  const pkcs8 = new Uint8Array(await crypto.subtle.exportKey("pkcs8", pair.privateKey));
  const publicKey = new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey));
  return { seed: pkcs8.slice(-32), publicKey };
}
