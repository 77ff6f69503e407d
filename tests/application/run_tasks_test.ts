import { expect, test } from "bun:test";
import { runTasks } from "../../application/system/run_tasks.ts";
import { Failure } from "../../domain/failure.ts";

const AWAY = new Failure("unavailable", "database_away", "Cannot reach the database: the service is stopping");

test("the failure of a task is reported and does not stop the others", async () => {
  const reported: unknown[] = [];
  const done: string[] = [];
  const run = runTasks(
    [
      async () => done.push("first"),
      async () => {
        throw AWAY;
      },
      async () => done.push("last"),
    ],
    { failed: (error) => reported.push(error), signal: new AbortController().signal },
  );
  await run();
  expect(done).toEqual(["first", "last"]);
  expect(reported).toEqual([AWAY]);
});

test("a task that the stop of the process interrupts is not reported, and no other begins", async () => {
  const stopping = new AbortController();
  const { promise: interrupted, reject } = Promise.withResolvers<void>();
  const reported: unknown[] = [];
  let others = 0;
  const run = runTasks([() => interrupted, async () => others++], {
    failed: (error) => reported.push(error),
    signal: stopping.signal,
  });
  const running = run();
  stopping.abort();
  reject(AWAY);
  await running;
  await run();
  expect(reported).toEqual([]);
  expect(others).toBe(0);
});
