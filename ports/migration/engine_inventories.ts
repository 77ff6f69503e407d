import type { Inventory } from "../../domain/migration/inventory.ts";

/** Reports how far reading has come: a sentence for a person. */
export type Progress = (sentence: string) => void;

/** Reads what a container engine has, without changing anything. */
export interface EngineInventories {
  /**
   * Reads all containers, running or not, with the facts about their images, and all volumes and networks. A container
   * that disappears meanwhile or cannot be read is `unread`. `address` is that of an engine, as in
   * `DOCKER_HOST`. Rejects with an `unavailable` failure, code `engine_away`, when no engine answers there, with a
   * `remote_failed` failure, code `engine_refused`, when it refuses a request, or with the signal's reason.
   */
  read(address: string, options?: { readonly signal?: AbortSignal; readonly progress?: Progress }): Promise<Inventory>;
}
