import { afterAll, beforeAll } from "bun:test";

/** Opens one world for all tests of the surrounding `describe` and closes it afterwards. Use it only inside tests. */
export function sharedWorld<T extends Partial<AsyncDisposable>>(open: () => Promise<T>): () => T {
  let world: T | undefined;
  beforeAll(async () => {
    world = await open();
  });
  afterAll(async () => {
    await world?.[Symbol.asyncDispose]?.();
  });
  return () => {
    if (!world) throw new Error("Cannot use the world: it is not open");
    return world;
  };
}
