import type { SealedRows } from "../../ports/system/sealed_rows.ts";
import type { Vault } from "../../ports/system/vault.ts";

const BATCH = 200;

/** How far a rotation has come. */
export interface RotationProgress {
  readonly done: number;
  readonly total: number;
}

/** Seals every stored secret with the current key, in batches; it may be stopped and started again at any point. */
export function rotateKey({ sealedRows, vault }: { readonly sealedRows: SealedRows; readonly vault: Vault }) {
  return async function (onProgress: (progress: RotationProgress) => void): Promise<number> {
    let done = 0;
    const before = await outdated(sealedRows, vault.keyId());
    for (;;) {
      const resealed = await sealedRows.reseal(BATCH);
      done += resealed;
      if (resealed > 0) onProgress({ done, total: Math.max(done, before) });
      // A server that has not heard of the new key yet may still have sealed with the former one.
      else if ((await outdated(sealedRows, vault.keyId())) === 0) return done;
    }
  };
}

/** How many stored secrets another key than the current one seals. */
export async function outdated(sealedRows: SealedRows, currentKeyId: string): Promise<number> {
  const counts = await sealedRows.countByKey();
  return counts.entries().reduce((sum, [keyId, count]) => (keyId === currentKeyId ? sum : sum + count), 0);
}
