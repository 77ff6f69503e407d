import type { ComposeNode } from "./compose_node.ts";

/** More than any project takes whose files people wrote; the same again and again takes any amount. */
const MOST = 300_000;

/** Thrown where reading a compose file would take too much, and is given up. */
export class TooMuchEffort extends Error {
  override readonly name = "TooMuchEffort";
}

/** What reading a compose project may still take: each value and line that is looked at, as often as it is. */
export class Effort {
  #left = MOST;

  /** Takes so much of what is left; throws when that is not there. */
  spend(amount: number): void {
    this.#left -= amount;
    if (this.#left < 0) throw new TooMuchEffort("Reading this takes too much");
  }

  /** Takes as much as there is to look at in a value. */
  spendOn(node: ComposeNode): void {
    this.spend(1);
    if (node.kind === "list") for (const item of node.items) this.spendOn(item);
    if (node.kind === "map") for (const value of node.entries.values()) this.spendOn(value);
  }
}
