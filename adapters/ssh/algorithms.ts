import type { Algorithms, ServerHostKeyAlgorithm } from "ssh2";

/** Accepted host key types, best first, each with its signature algorithms that are still safe. */
export const HOST_KEY_KINDS: ReadonlyMap<string, readonly ServerHostKeyAlgorithm[]> = new Map([
  ["ssh-ed25519", ["ssh-ed25519"]],
  ["ecdsa", ["ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521"]],
  ["ssh-rsa", ["rsa-sha2-512", "rsa-sha2-256"]],
]);

/** The algorithms to offer to a server: none based on SHA-1, CBC or compression. */
export function algorithms(hostKeys: Iterable<readonly ServerHostKeyAlgorithm[]>): Algorithms {
  return {
    kex: [
      "curve25519-sha256",
      "curve25519-sha256@libssh.org",
      "ecdh-sha2-nistp256",
      "ecdh-sha2-nistp384",
      "ecdh-sha2-nistp521",
      "diffie-hellman-group16-sha512",
      "diffie-hellman-group18-sha512",
      "diffie-hellman-group14-sha256",
      "diffie-hellman-group-exchange-sha256",
    ],
    cipher: ["aes128-gcm@openssh.com", "aes256-gcm@openssh.com", "aes256-ctr", "aes192-ctr", "aes128-ctr"],
    hmac: ["hmac-sha2-256-etm@openssh.com", "hmac-sha2-512-etm@openssh.com", "hmac-sha2-256", "hmac-sha2-512"],
    serverHostKey: [...hostKeys].flat(),
    compress: ["none"],
  };
}
