/** Makes an access token: `slp_` and 43 base64url characters, 256 random bits. */
export function newToken(): string {
  return `slp_${randomText()}`;
}

/** Makes 43 base64url characters from 256 random bits. */
export function randomText(): string {
  return crypto.getRandomValues(new Uint8Array(32)).toBase64({ alphabet: "base64url", omitPadding: true });
}

/** The only form a credential is stored in: lower-case hexadecimal SHA-256. */
export function fingerprint(credential: string): string {
  // Asked on every request: at once costs a microsecond, `crypto.subtle` a trip to another thread.
  return Bun.SHA256.hash(credential, "hex");
}
