import type { ComposeNode } from "./compose_node.ts";

/**
 * More than any hand-written project needs; a file that repeats the same parts again and again could cost any amount.
 */
const MOST = 300_000;

/** Thrown to abort parsing a compose file that takes too much work. */
export class TooMuchEffort extends Error {
  override readonly name = "TooMuchEffort";
}

/** The remaining work allowed for parsing a compose project. Each value and line counts every time it is visited. */
export class Effort {
  #left = MOST;

  /** Spends an amount; throws `TooMuchEffort` when less than that is left. */
  spend(amount: number): void {
    this.#left -= amount;
    if (this.#left < 0) throw new TooMuchEffort("Reading this takes too much work");
  }

  /** Spends one unit for each node of a value. */
  spendOn(node: ComposeNode): void {
    this.spend(1);
    if (node.kind === "list") for (const item of node.items) this.spendOn(item);
    if (node.kind === "map") for (const value of node.entries.values()) this.spendOn(value);
  }
}
