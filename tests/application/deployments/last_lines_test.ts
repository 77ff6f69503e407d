import { describe, expect, test } from "bun:test";
import { lastLines } from "../../../application/services/last_lines.ts";
import { EngineScene, START } from "../../support/apps/engine_scene.ts";
import { intercepted } from "../../support/faults/intercepted.ts";

const ENDLESS = 1_000;

describe("lastLines()", () => {
  test("returns the newest lines up to the limit, in order, for any page size", async () => {
    const all = Array.from({ length: 23 }, (_, index) => ({ seq: index + 1, at: new Date(index) }));
    for (const size of [1, 5, 22, 23, 24]) {
      const read = async ({ since }: { since: number }) => all.filter(({ seq }) => seq > since).slice(0, size);
      expect(await lastLines(read, { since: 0, count: 7 })).toEqual(all.slice(-7));
      expect(await lastLines(read, { since: 20, count: 7 })).toEqual(all.slice(20));
    }
  });

  test("ends although lines are printed faster than they can be read", async () => {
    let reads = 0;
    const read = async ({ since }: { since: number }) => {
      if (++reads > ENDLESS) throw new Error("It reads forever");
      return [{ seq: since + 1, at: new Date(Date.now() + reads) }];
    };
    expect(await lastLines(read, { since: 0, count: 3 })).not.toEqual([]);
  });
});

test("a download of the output of a program that prints without a pause ends", async () => {
  let reads = 0;
  await using scene = await EngineScene.open({
    replace: ({ runtime }) => ({
      runtime: intercepted(runtime, "output", async (goOn, [, wanted]) => {
        const lines = (await goOn()) as readonly object[];
        const { since } = wanted as { since: number };
        if (lines.length > 0 || since === 0) return lines;
        if (++reads > ENDLESS) throw new Error("It reads forever");
        return [{ seq: since + 1, at: new Date(Date.now() + reads), stream: "stdout", message: "more" }];
      }),
    }),
  });
  scene.memory.runtime.scripts.set(START, { does: "answers", prints: ["up"] });
  const { id } = await scene.deployed(await scene.project());
  const text = await Array.fromAsync(await scene.useCases.downloadLogs(scene.by, id, { kind: "runtime" }));
  expect(text.join("")).toStartWith("up\n");
});
