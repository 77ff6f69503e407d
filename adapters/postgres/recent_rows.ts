/** How long a row is remembered: longer than the pauses between the steps of a deployment, and not much longer. */
const KEPT_MS = 1_000;

interface RecentRow<Row> {
  readonly row: Row;
  readonly at: number;
  /** The state of the database's connections when it was written; see `Database.epoch`. */
  readonly epoch: number;
}

/**
 * Remembers rows as this process has just written them. Another process may have changed them since, so they serve only
 * where a statement compares their revision.
 */
export class RecentRows<Row> {
  /** Oldest first. */
  readonly #rows = new Map<string, RecentRow<Row>>();

  /** Returns a row, unless a connection was lost since: the same revision could mean another row then. */
  get(id: string, epoch: number): Row | undefined {
    const recent = this.#rows.get(id);
    return recent && recent.epoch === epoch && performance.now() - recent.at < KEPT_MS ? recent.row : undefined;
  }

  set(id: string, row: Row, epoch: number): void {
    const at = performance.now();
    this.#rows.delete(id);
    this.#rows.set(id, { row, at, epoch });
    for (const [oldest, recent] of this.#rows) {
      if (at - recent.at < KEPT_MS) return;
      this.#rows.delete(oldest);
    }
  }
}
