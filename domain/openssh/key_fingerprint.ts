/** Returns the fingerprint of a public key as OpenSSH shows it: `SHA256:` and base64 without padding. */
export function keyFingerprint(blob: Uint8Array): string {
  const digest = new Bun.CryptoHasher("sha256").update(blob).digest();
  return `SHA256:${Uint8Array.from(digest).toBase64({ omitPadding: true })}`;
}
