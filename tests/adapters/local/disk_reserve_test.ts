import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DiskReserve, type DiskSpace, diskSpace } from "../../../adapters/local/disk_reserve.ts";
import { LocalUploadFiles } from "../../../adapters/local/upload_files.ts";
import { file, folder, link, streamOf, tarGz } from "../../support/inputs/tar_archive.ts";

const MIB = 2 ** 20;
const FULL = { kind: "unavailable", code: "storage_full" };
const limits = { maxBytes: 100 * MIB, maxUnpackedBytes: 400 * MIB, maxEntries: 100_000 };

/** A reserve on a disk with a constant amount of free space. */
function over(space: DiskSpace): DiskReserve {
  return new DiskReserve(async () => space);
}

/** A step that starts a file of `size` bytes. */
function fileOf(size: number) {
  return { type: "file", path: "a", size, executable: false, replaces: false } as const;
}

function bytesOf(size: number) {
  return { type: "bytes", bytes: new Uint8Array(size) } as const;
}

describe("DiskReserve", () => {
  test.each([
    [{ free: 512 * MIB + 10_000, total: 1_000_000 * MIB }],
    [{ free: 50 * MIB + 10_000, total: 1_000 * MIB }],
    [{ free: 10_000, total: 0 }],
  ])("admit() preserves the reserve of a disk with %j", async (space) => {
    await over(space).admit(fileOf(5_000));
    await expect(over(space).admit(fileOf(6_000))).rejects.toMatchObject(FULL);
    const full = over({ ...space, free: space.free - 10_000 });
    const steps = [
      fileOf(0),
      bytesOf(1),
      { type: "folder", path: "a" },
      { type: "link", path: "a", target: "b" },
    ] as const;
    for (const step of steps) await expect(full.admit(step)).rejects.toMatchObject(FULL);
    await full.admit({ type: "end", bytes: 1, files: 1 });
  });

  test("admit() notices writes of other processes soon enough, even within a file", async () => {
    let free = 1_000 * MIB;
    let checks = 0;
    const reserve = new DiskReserve(async () => {
      checks++;
      return { free, total: 100_000 * MIB };
    });
    for (let index = 0; index < 100; index++) await reserve.admit(fileOf(0));
    expect(checks).toBe(1);
    await reserve.admit(fileOf(200 * MIB));
    free = 500 * MIB;
    let written = 0;
    const write = async () => {
      for (; written < 200; written++) await reserve.admit(bytesOf(MIB));
    };
    await expect(write()).rejects.toMatchObject(FULL);
    expect(written).toBeLessThanOrEqual(16);
  });

  test("diskSpace() returns the space of a real disk", async () => {
    const place = await mkdtemp(join(tmpdir(), "slipway-"));
    await writeFile(join(place, "used"), new Uint8Array(MIB));
    const { free, total } = await diskSpace(place);
    await rm(place, { recursive: true });
    expect(free).toBeGreaterThan(0);
    expect(total).toBeGreaterThan(free);
  });
});

describe("LocalUploadFiles on a disk that fills up", () => {
  const ID = "upl_0123456789abcdefghij";
  let world: string;

  beforeAll(async () => {
    world = await mkdtemp(join(tmpdir(), "slipway-"));
  });

  afterAll(() => rm(world, { recursive: true }));

  test.each([
    ["is full from the start", [500], [file("a")]],
    ["has no room for a file", [520], [file("a", new Uint8Array(10 * MIB))]],
    ["fills up in the middle of a file", [600, 600, 500], [file("a", new Uint8Array(40 * MIB))]],
    ["is full for folders and links too", [500], [folder("a"), link("b", "a"), file("c")]],
  ])("receive() refuses an upload when it %s, and keeps nothing", async (_, frees, entries) => {
    const left = [...frees];
    const space = async () => ({ free: (left.length > 1 ? left.shift()! : left[0]!) * MIB, total: 100_000 * MIB });
    const files = new LocalUploadFiles(join(world, "uploads"), space);
    const refused = files.receive(ID, streamOf(tarGz(entries)), { limits });
    await expect(refused).rejects.toMatchObject({
      ...FULL,
      message: "Cannot accept the upload: the disk of this server is full; free some space and try again",
    });
    expect(await Array.fromAsync(files.stored())).toEqual([]);
  });
});
