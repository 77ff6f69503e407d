/** Items that fit into one statement. */
const MOST = 100;

/** Does the same work for several items at once: for those that are added under one key in one turn of the event loop. */
export class Together<T, R> {
  readonly #work: (items: readonly T[]) => Promise<R>;
  readonly #waiting = new Map<string, { readonly items: T[]; readonly result: Promise<R> }>();

  constructor(work: (items: readonly T[]) => Promise<R>) {
    this.#work = work;
  }

  /** Adds an item. Resolves to the result of the work that it was part of. */
  add(key: string, item: T): Promise<R> {
    const waiting = this.#waiting.get(key);
    if (waiting && waiting.items.length < MOST) {
      waiting.items.push(item);
      return waiting.result;
    }
    const items = [item];
    const turn = Promise.withResolvers<void>();
    setImmediate(turn.resolve);
    const result = turn.promise.then(() => {
      if (this.#waiting.get(key)?.items === items) this.#waiting.delete(key);
      return this.#work(items);
    });
    this.#waiting.set(key, { items, result });
    return result;
  }
}
