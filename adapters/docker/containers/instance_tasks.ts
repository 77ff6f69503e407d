import { refused } from "../engine/refusals.ts";

/** Runs one task at a time for each instance, in the order they came. */
export class InstanceTasks {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs a task, and converts the engine's refusal into a failure that says what could not be done. */
  async run<T>(instanceId: string, what: string, task: () => Promise<T>): Promise<T> {
    const before = this.#last.get(instanceId) ?? Promise.resolve();
    const run = before.then(task, task).catch(refused(what));
    this.#last.set(instanceId, run);
    try {
      return await run;
    } finally {
      if (this.#last.get(instanceId) === run) this.#last.delete(instanceId);
    }
  }
}
