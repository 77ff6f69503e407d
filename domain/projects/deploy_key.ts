import { newEd25519Key } from "../openssh/ed25519_key.ts";
import { keyFingerprint } from "../openssh/key_fingerprint.ts";
import { formatPrivateKey } from "../openssh/private_key.ts";
import { publicKeyBlob, publicKeyLine } from "../openssh/public_key.ts";
import { Secret } from "../secret.ts";
import type { Project } from "./project.ts";

/** The key that a project's repository is cloned with over SSH, without its private part. */
export interface DeployKey {
  readonly projectId: string;
  /** The line to add at the git server: `ssh-ed25519 AAAA… slipway-<slug>`. */
  readonly publicKey: string;
  readonly fingerprint: string;
  readonly createdAt: Date;
}

/** The key that an SSH server must present to the fetches of a project. */
export interface PinnedHostKey {
  /** The server's name, with its port unless that is 22. */
  readonly host: string;
  /** Type and base64: `ssh-ed25519 AAAA…`. */
  readonly key: string;
  readonly fingerprint: string;
  readonly pinnedAt: Date;
}

/** A deploy key and the host keys that are pinned for it, sorted by host. */
export interface StoredDeployKey extends DeployKey {
  readonly hostKeys: readonly PinnedHostKey[];
}

/** Generates a deploy key; its private part is in OpenSSH's format. */
export async function newDeployKey(
  { id: projectId, slug }: Pick<Project, "id" | "slug">,
  createdAt: Date,
): Promise<{ readonly deployKey: DeployKey; readonly privateKey: Secret }> {
  const key = await newEd25519Key();
  const comment = `slipway-${slug}`;
  const publicKey = publicKeyLine(key.publicKey, comment);
  const fingerprint = keyFingerprint(publicKeyBlob(key.publicKey));
  return {
    deployKey: { projectId, publicKey, fingerprint, createdAt },
    privateKey: new Secret(formatPrivateKey(key, comment)),
  };
}

/** Returns the record of a host key; `undefined` unless `key` is a type and base64. */
export function pinnedHostKey(host: string, key: string, pinnedAt: Date): PinnedHostKey | undefined {
  const fingerprint = hostKeyFingerprint(key);
  return fingerprint === undefined ? undefined : { host, key, fingerprint, pinnedAt };
}

/** Returns the fingerprint of a key that is given as type and base64; `undefined` for anything else. */
export function hostKeyFingerprint(key: string): string | undefined {
  const [type, encoded, ...rest] = key.split(" ");
  if (!type || !encoded || rest.length > 0) return undefined;
  try {
    return keyFingerprint(Uint8Array.fromBase64(encoded, { lastChunkHandling: "strict" }));
  } catch {
    return undefined;
  }
}
