import { expect, test } from "bun:test";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StartingMarks } from "../../../adapters/docker/containers/starting_marks.ts";
import { eventually } from "../../support/eventually.ts";

/** The marks of two servers in a folder that does not exist yet. */
async function twoServers() {
  const parent = await mkdtemp(join(tmpdir(), "slipway-"));
  const folder = join(parent, "starting");
  return {
    folder,
    here: new StartingMarks(folder),
    there: new StartingMarks(folder),
    [Symbol.asyncDispose]: () => rm(parent, { recursive: true, force: true }),
  };
}

test("an instance is marked for every server while one of them starts it, and nothing is left afterwards", async () => {
  await using servers = await twoServers();
  const { folder, here, there } = servers;
  expect([here.isMarked("a"), there.isMarked("a")]).toEqual([false, false]);
  const [first, second] = [await here.mark("a"), await there.mark("a")];
  expect([here.isMarked("a"), there.isMarked("a"), there.isMarked("b")]).toEqual([true, true, false]);
  first[Symbol.dispose]();
  expect([here.isMarked("a"), there.isMarked("a")]).toEqual([true, true]);
  second[Symbol.dispose]();
  expect([here.isMarked("a"), there.isMarked("a")]).toEqual([false, false]);
  expect(await readdir(folder)).toEqual([]);
});

test("a held mark stays visible while other marks come and go concurrently", async () => {
  await using servers = await twoServers();
  const { folder, here, there } = servers;
  const kept = await here.mark("kept");
  const busy = Array.from({ length: 8 }, async (_, index) => {
    for (let round = 0; round < 50; round++) {
      using mark = await (index % 2 ? here : there).mark(round % 2 ? "kept" : "other");
      expect({ mark, isMarked: there.isMarked("kept") }).toMatchObject({ isMarked: true });
      await Bun.sleep(0);
    }
  });
  await Promise.all(busy);
  expect(here.isMarked("kept")).toBe(true);
  expect(await readdir(folder)).toEqual(["kept"]);
  kept[Symbol.dispose]();
  expect(here.isMarked("kept")).toBe(false);
});

test("the mark of a killed server does not count any more", async () => {
  await using servers = await twoServers();
  const { folder, here } = servers;
  const script = `
    import { StartingMarks } from ${JSON.stringify(join(import.meta.dir, "../../../adapters/docker/containers/starting_marks.ts"))};
    globalThis.mark = await new StartingMarks(${JSON.stringify(folder)}).mark("a");
    setInterval(() => {}, 1_000);`;
  const killed = Bun.spawn([process.execPath, "-e", script], { stdio: ["ignore", "inherit", "inherit"] });
  expect(await eventually(async () => here.isMarked("a"), Boolean)).toBe(true);
  killed.kill("SIGKILL");
  await killed.exited;
  expect(here.isMarked("a")).toBe(false);
  expect(await readdir(folder)).toEqual([]);
});
