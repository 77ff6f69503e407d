import type { SealedRows } from "../../ports/system/sealed_rows.ts";
import type { Vault } from "../../ports/system/vault.ts";

const BATCH = 200;

/** The progress of a key rotation. */
export interface RotationProgress {
  readonly done: number;
  readonly total: number;
}

/** Re-encrypts every stored secret with the current key, in batches; can be interrupted and restarted at any point. */
export function rotateKey({ sealedRows, vault }: { readonly sealedRows: SealedRows; readonly vault: Vault }) {
  return async function (onProgress: (progress: RotationProgress) => void): Promise<number> {
    let done = 0;
    const before = await outdated(sealedRows, vault.keyId());
    for (;;) {
      const resealed = await sealedRows.reseal(BATCH);
      done += resealed;
      if (resealed > 0) onProgress({ done, total: Math.max(done, before) });
      // A server that does not know the new key yet may still have encrypted with the former one.
      else if ((await outdated(sealedRows, vault.keyId())) === 0) return done;
    }
  };
}

/** Returns how many stored secrets are encrypted with another key than the current one. */
export async function outdated(sealedRows: SealedRows, currentKeyId: string): Promise<number> {
  const counts = await sealedRows.countByKey();
  return counts.entries().reduce((sum, [keyId, count]) => (keyId === currentKeyId ? sum : sum + count), 0);
}
