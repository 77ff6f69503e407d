import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { HostFolders } from "../../ports/projects/host_folders.ts";

/**
 * A folder with the subfolders `plain/inner` and `plain/with space` and the symlinks `link` to `plain`, `chain` to
 * `link`, `loop` to itself and `broken` to a missing target, all with absolute targets.
 */
export interface FoldersForContract extends AsyncDisposable {
  readonly folders: HostFolders;
  /** The real path of the folder. */
  readonly root: string;
}

/** Contract tests for `HostFolders` adapters. */
export function hostFoldersContract(name: string, open: () => Promise<FoldersForContract>) {
  describe(`HostFolders contract: ${name}`, () => {
    let place: FoldersForContract;
    beforeAll(async () => {
      place = await open();
    });
    afterAll(async () => {
      await place?.[Symbol.asyncDispose]();
    });

    test.each([
      ["plain", "plain"],
      ["plain/inner", "plain/inner"],
      ["plain/with space", "plain/with space"],
      ["plain/", "plain"],
      ["plain//inner/.", "plain/inner"],
      ["plain/inner/..", "plain"],
      ["link", "plain"],
      ["link/inner", "plain/inner"],
      ["chain/inner", "plain/inner"],
      ["link/../plain", "plain"],
    ])("resolve() and locate() return the real path of %s", async (path, real) => {
      expect(await place.folders.resolve(`${place.root}/${path}`)).toBe(`${place.root}/${real}`);
      expect(await place.folders.locate(`${place.root}/${path}`)).toBe(`${place.root}/${real}`);
    });

    test("resolve() returns the root of the machine", async () => {
      expect(await place.folders.resolve("/")).toBe("/");
    });

    test.each(["missing", "plain/missing", "plain/missing/..", "loop", "broken", "plain/\0", "a".repeat(256)])(
      "resolve() and locate() find nothing at %j",
      async (path) => {
        expect(await place.folders.locate(`${place.root}/${path}`)).toBeUndefined();
        expect(await place.folders.resolve(`${place.root}/${path}`)).toBeUndefined();
      },
    );

    test.each(["", ".", "plain", "~", "file:///"])(
      "resolve() and locate() do not accept %j as a path of the machine",
      async (path) => {
        expect(await place.folders.locate(path)).toBeUndefined();
        expect(await place.folders.resolve(path)).toBeUndefined();
      },
    );
  });
}
