import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { LocalHostFolders } from "../../../adapters/local/host_folders.ts";
import { MemoryHostFolders } from "../../../adapters/memory/host_folders.ts";
import { hostFoldersContract } from "../../contracts/host_folders.ts";

const links = (root: string) => ({
  [`${root}/link`]: `${root}/plain`,
  [`${root}/chain`]: `${root}/link`,
  [`${root}/loop`]: `${root}/loop`,
  [`${root}/broken`]: `${root}/nowhere`,
});

async function temporaryFolder() {
  const root = await realpath(await mkdtemp(join(tmpdir(), "slipway-")));
  return { root, [Symbol.asyncDispose]: () => rm(root, { recursive: true }) };
}

hostFoldersContract("memory", async () => {
  const root = "/srv/place";
  const folders = new MemoryHostFolders([`${root}/plain/inner`, `${root}/plain/with space`], links(root));
  return { folders, root, async [Symbol.asyncDispose]() {} };
});

hostFoldersContract("local", async () => {
  const place = await temporaryFolder();
  await mkdir(join(place.root, "plain/inner"), { recursive: true });
  await mkdir(join(place.root, "plain/with space"));
  for (const [path, target] of Object.entries(links(place.root))) await symlink(target, path);
  return { folders: new LocalHostFolders(), ...place };
});

test("LocalHostFolders.resolve() does not accept a file as a folder; locate() finds it", async () => {
  await using place = await temporaryFolder();
  await writeFile(join(place.root, "file"), "");
  await symlink(join(place.root, "file"), join(place.root, "link"));
  const folders = new LocalHostFolders();
  expect(await folders.resolve(join(place.root, "file"))).toBeUndefined();
  expect(await folders.resolve(join(place.root, "link"))).toBeUndefined();
  expect(await folders.locate(join(place.root, "link"))).toBe(join(place.root, "file"));
});
