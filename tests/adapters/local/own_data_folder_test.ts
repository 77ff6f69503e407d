import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ownDataFolder } from "../../../adapters/local/own_data_folder.ts";

let parent: string;
let folder: string;

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), "slipway-"));
  folder = join(parent, "a/data");
});

afterEach(() => rm(parent, { recursive: true }));

const modeOf = async (path: string) => ((await stat(path)).mode & 0o7777).toString(8);

/**
 * Creates the folder as another user may have left it: writable for all, with these files and folders (ending in a
 * slash).
 */
async function existing(...names: string[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const name of names) await (name.endsWith("/") ? mkdir(join(folder, name)) : writeFile(join(folder, name), ""));
  await chmod(folder, 0o1777);
}

test("ownDataFolder() creates a folder that only this user can enter", async () => {
  await ownDataFolder(folder);
  expect(await modeOf(folder)).toBe("700");
  await ownDataFolder(folder);
});

test.each([
  [[]],
  [["lost+found/"]],
  [["uploads/"]],
  [["postgres.part/"]],
  [["postgres/", "postgres.log", "uploads/"]],
  [["secret.key", "notes.txt", "secret.key.backup"]],
  [["postgres.json", "notes.txt"]],
])("ownDataFolder() closes an existing folder with %j to others", async (names) => {
  await existing(...names);
  await ownDataFolder(folder);
  expect(await modeOf(folder)).toBe("700");
});

test("ownDataFolder() recognizes everything that a server creates there", async () => {
  const wiring = await Bun.file(join(import.meta.dir, "../../../wiring/open_world.ts")).text();
  const made = Array.from(wiring.matchAll(/\binData\("([^"]+)"\)/g), ([, name]) => `${name}/`);
  expect(made).toContain("releases/");
  await existing(...made);
  await ownDataFolder(folder);
});

test.each([[["notes.txt"]], [["uploads/", "notes.txt"]], [["postgres/", "mail/"]], [[".bashrc"]], [["postgresql/"]]])(
  "ownDataFolder() refuses a folder with %j and does not change it",
  async (names) => {
    await existing(...names);
    const refused = ownDataFolder(folder);
    await expect(refused).rejects.toThrow(
      `Cannot use the data folder ${folder}: it contains other files. Set SLIPWAY_DATA to a folder of its own`,
    );
    expect(await modeOf(folder)).toBe("1777");
  },
);

test("ownDataFolder() reports why it cannot use a path that is not a folder", async () => {
  await mkdir(join(parent, "a"));
  await writeFile(folder, "mine");
  await expect(ownDataFolder(folder)).rejects.toThrow(/^Cannot use the data folder .*EEXIST.*SLIPWAY_DATA/);
  await expect(ownDataFolder(join(folder, "below"))).rejects.toThrow(/ENOTDIR/);
});
