import { afterAll, describe, expect, test } from "bun:test";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LocalObjectStorages } from "../../../adapters/local/object_storages.ts";
import { partName } from "../../../domain/backups/object_key.ts";
import { textBody, textOf } from "../../support/inputs/bodies.ts";

const top = await mkdtemp(join(tmpdir(), "slipway-"));
afterAll(() => rm(top, { recursive: true, force: true }));

/** A root with a backup folder in it, a file outside of it, and the service's own data folder. */
async function scene() {
  const place = await mkdtemp(join(top, "scene-"));
  const at = (...names: string[]) => join(place, ...names);
  for (const name of ["root/home", "outside", "data"]) await mkdir(at(name), { recursive: true });
  await writeFile(at("outside/secret"), "outside");
  const open = (folder = at("root/home"), root = at("root")) =>
    new LocalObjectStorages({ dataFolder: at("data") }).open({ kind: "local_folder", root, folder });
  return { at, open };
}

const openFiles = async () => (await readdir("/proc/self/fd")).length;

const refused = { code: "misconfigured", kind: "remote_failed" };

describe("LocalObjectStorage", () => {
  test("accepts a link in the path of its folder that stays in the root", async () => {
    const { at, open } = await scene();
    await symlink(at("root/home"), at("root/link"));
    const storage = await open(at("root/link"));
    await storage.put("a", textBody("inside"));
    expect(await readFile(at("root/home/a"), "utf8")).toBe("inside");
  });

  test("refuses a folder that a later link moved out of the root", async () => {
    const { at, open } = await scene();
    const storage = await open();
    await storage.put("a", textBody("inside"));
    await rename(at("root/home"), at("root/former"));
    await symlink(at("outside"), at("root/home"));
    await expect(storage.put("a", textBody("x"))).rejects.toMatchObject(refused);
    await expect(storage.put("b/c", textBody("x"))).rejects.toMatchObject(refused);
    await expect(storage.get("secret")).rejects.toMatchObject(refused);
    await expect(storage.list("")).rejects.toMatchObject(refused);
    await expect(storage.remove("secret")).rejects.toMatchObject(refused);
    expect(await readdir(at("outside"))).toEqual(["secret"]);
  });

  test("sweeps by the time of the last write, and does not follow links", async () => {
    const { at, open } = await scene();
    const storage = await open();
    const [old, fresh] = [partName("a.tar"), partName("a.tar")];
    await mkdir(at("root/home/deep"));
    for (const folder of ["root/home/deep", "outside"]) {
      for (const name of [old, fresh]) await writeFile(at(folder, name), "half");
      await utimes(at(folder, old), new Date(), new Date(Date.now() - 90_000_000));
    }
    await symlink(at("outside"), at("root/home/out"));
    await symlink(at("outside", old), at("root/home", old));
    expect(await storage.sweep("", { before: new Date(Date.now() - 86_400_000) })).toBe(1);
    expect(await readdir(at("root/home/deep"))).toEqual([fresh]);
    expect((await readdir(at("outside"))).toSorted()).toEqual([old, fresh, "secret"].toSorted());
  });

  test("follows no link inside its folder, neither to a folder nor to a file", async () => {
    const { at, open } = await scene();
    const storage = await open();
    await symlink(at("outside"), at("root/home/out"));
    await symlink(at("outside/secret"), at("root/home/file"));
    await symlink(at("outside/new"), at("root/home/dangling"));
    await expect(storage.put("out/x", textBody("x"))).rejects.toMatchObject(refused);
    await expect(storage.put("dangling/x", textBody("x"))).rejects.toMatchObject(refused);
    expect(await storage.get("out/secret")).toBeUndefined();
    expect(await storage.get("file")).toBeUndefined();
    expect(await storage.stat("file")).toBeUndefined();
    expect((await storage.list("")).objects).toEqual([]);
    await storage.remove("out/secret");
    await storage.put("file", textBody("mine"));
    expect(await textOf(await storage.get("file"))).toBe("mine");
    expect([await readdir(at("outside")), await readFile(at("outside/secret"), "utf8")]).toEqual([
      ["secret"],
      "outside",
    ]);
  });

  test("does not write through a link that is swapped in during a write", async () => {
    const { at, open } = await scene();
    const storage = await open();
    await mkdir(at("root/home/in"));
    let swapped = false;
    const content = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          if (swapped) return controller.close();
          swapped = true;
          await rename(at("root/home/in"), at("root/home/moved"));
          await symlink(at("outside"), at("root/home/in"));
          controller.enqueue(new Uint8Array(10));
        },
      },
      { highWaterMark: 0 },
    );
    await storage.put("in/x", content);
    expect(await readdir(at("outside"))).toEqual(["secret"]);
    expect(await readdir(at("root/home/moved"))).toEqual(["x"]);
  });

  test("never leaves the root while a folder and a link are swapped repeatedly", async () => {
    const { at, open } = await scene();
    const storage = await open();
    await mkdir(at("root/home/in"));
    const busy = new AbortController();
    const swapping = (async () => {
      while (!busy.signal.aborted) {
        await rename(at("root/home/in"), at("root/home/aside")).catch(() => {});
        await symlink(at("outside"), at("root/home/in")).catch(() => {});
        await rm(at("root/home/in"), { force: true }).catch(() => {});
        await rename(at("root/home/aside"), at("root/home/in")).catch(() => {});
      }
    })();
    for (let time = 0; time < 60; time++) await storage.put(`in/${time}`, textBody("x")).catch(() => {});
    busy.abort();
    await swapping;
    expect(await readdir(at("outside"))).toEqual(["secret"]);
  });

  test("refuses the service's own data, and system folders as root", async () => {
    const { at, open } = await scene();
    const inData = await open(at("data/backups"), at());
    await expect(inData.put("x", textBody("x"))).rejects.toMatchObject(refused);
    const around = await open(at(), at());
    await expect(around.put("data/secret.key", textBody("x"))).rejects.toMatchObject(refused);
    expect(await readdir(at("data"))).toEqual([]);
    await symlink("/etc", at("system"));
    for (const root of ["/", "/etc", "/usr/local", at("system")]) {
      const storage = await open(root === "/" ? at("root") : join(root, "backups"), root);
      await expect(storage.put("x", textBody("x"))).rejects.toMatchObject(refused);
    }
  });

  test("keeps no file open when it is done", async () => {
    const { open } = await scene();
    const storage = await open();
    await storage.put("a/b", textBody("x"));
    const before = await openFiles();
    for (let time = 0; time < 20; time++) {
      await storage.put("a/b", textBody("x"));
      await textOf(await storage.get("a/b"));
      await (await storage.get("a/b"))?.cancel();
      await storage.list("");
      await storage.stat("no/where/x");
      await storage.put("a/b/c", textBody("x")).catch(() => {});
    }
    expect(await openFiles()).toBeLessThanOrEqual(before + 1);
  });
});
