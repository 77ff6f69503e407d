/** Returns a new access token: `slp_` and 43 base64url characters, 256 random bits. */
export function newToken(): string {
  return `slp_${randomText()}`;
}

/** Returns 43 base64url characters, 256 random bits. */
export function randomText(): string {
  return crypto.getRandomValues(new Uint8Array(32)).toBase64({ alphabet: "base64url", omitPadding: true });
}

/** Returns the only form in which a credential is stored: its SHA-256 hash in lower-case hexadecimal. */
export function fingerprint(credential: string): string {
  // Runs on every request: hashing synchronously takes a microsecond, `crypto.subtle` a round trip to another thread.
  return Bun.SHA256.hash(credential, "hex");
}
