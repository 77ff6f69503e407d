import { describe, expect, test } from "bun:test";
import { assert, property, string } from "fast-check";
import { isSystemFolder } from "../../domain/backups/local_folder.ts";
import { isWithin } from "../../domain/is_within.ts";
import { compareKeys, isObjectKey, nameOfPart, partName } from "../../domain/backups/object_key.ts";
import { readPathPrefix } from "../../domain/backups/path_prefix.ts";
import { failedProbe, isAbandonedProbe, probeKey } from "../../domain/backups/probe.ts";
import { listTree, sweepTree, type TreeChild } from "../../domain/backups/tree_listing.ts";
import { Failure } from "../../domain/failure.ts";

const outcome = (code: string) => failedProbe("read", new Failure("remote_failed", code, "Cannot read"));

function child(name: string, type: TreeChild["type"]): TreeChild {
  return { name, type, bytes: 1, modifiedAt: new Date(0) };
}

describe("compareKeys()", () => {
  test("orders all texts by their UTF-8 bytes", () => {
    assert(
      property(string({ unit: "binary" }), string({ unit: "binary" }), (a, b) => {
        expect(Math.sign(compareKeys(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
      }),
    );
  });
});

describe("partName()", () => {
  test("is not a valid object key, and nameOfPart() returns the name of its object", () => {
    for (const name of ["x", "ä".repeat(110), ".slipway-probe-1"]) {
      const part = partName(name);
      expect([isObjectKey(part), nameOfPart(part), Buffer.byteLength(part) <= 255]).toEqual([false, name, true]);
    }
    expect(nameOfPart(".slipway-part-x")).toBeUndefined();
  });
});

describe("readPathPrefix()", () => {
  test.each([
    [null, null],
    ["", null],
    ["./", null],
    ["a", "a"],
    ["a/", "a"],
    ["a//b/./c", "a/b/c"],
    ["ä ö", "ä ö"],
    ["a..b", "a..b"],
    ["$(id)", "$(id)"],
  ])("normalizes %j to %j", (text, prefix) => {
    expect(readPathPrefix(text)).toBe(prefix);
  });

  test.each(["/a", "//", "..", "a/..", "../a", "a/../b", "a\0", "\u0000", "a\nb", "-a", "a/-b", "x".repeat(221)])(
    "refuses %j",
    (text) => {
      expect(() => readPathPrefix(text)).toThrow("pathPrefix");
    },
  );

  test("never returns a prefix with .. or an absolute one", () => {
    assert(
      property(string(), (text) => {
        let prefix: string | null = null;
        try {
          prefix = readPathPrefix(text);
        } catch (error) {
          expect(error).toBeInstanceOf(Failure);
        }
        if (prefix !== null) expect(prefix.split("/").some((part) => part === ".." || part === "")).toBe(false);
      }),
    );
  });
});

describe("probes", () => {
  test("are unique, and abandoned only when they are old", () => {
    const now = new Date("2026-03-01T10:00:00Z");
    const keys = new Set(Array.from({ length: 100 }, () => probeKey(now)));
    expect(keys.size).toBe(100);
    const [key] = [...keys];
    expect(isObjectKey(key!)).toBe(true);
    expect(isAbandonedProbe(key!, new Date(now.getTime() + 60_000))).toBe(false);
    expect(isAbandonedProbe(key!, new Date(now.getTime() + 120_000))).toBe(true);
    expect(isAbandonedProbe("backup.tar", now)).toBe(false);
  });

  test("fail with a code of the closed list, for any code of a store", () => {
    expect(outcome("permission_denied")).toEqual({ ok: false, code: "permission_denied", reason: "read: Cannot read" });
    expect(outcome("storage_full").code).toBe("misconfigured");
    expect(outcome("never heard of").code).toBe("unreachable");
  });
});

describe("isSystemFolder()", () => {
  test.each(["/", "/etc", "/etc/x", "/usr/local/x", "/home", "/var/lib", "/tmp", "/proc/1"])(
    "%s is a system folder",
    (path) => {
      expect(isSystemFolder(path)).toBe(true);
    },
  );

  test.each(["/backups", "/srv/backups", "/home/me", "/var/backups", "/tmp/x", "/etcetera"])("%s is not", (path) => {
    expect(isSystemFolder(path)).toBe(false);
  });

  test("isWithin() compares whole names", () => {
    expect([isWithin("/a", "/a"), isWithin("/a", "/a/b"), isWithin("/a", "/ab"), isWithin("/", "/a")]).toEqual([
      true,
      true,
      false,
      true,
    ]);
  });
});

describe("listTree()", () => {
  test("skips folders that cannot hold matching objects", async () => {
    const read: string[] = [];
    const tree: Record<string, TreeChild[]> = {
      "a/": [child("b", "folder"), child("c", "folder"), child("x", "other")],
      "a/b/": [child("1", "file")],
      "a/c/": [child("2", "file"), child("3", "file")],
    };
    const page = await listTree(
      async (folder) => {
        read.push(folder);
        return tree[folder] ?? [];
      },
      { prefix: "a/", after: "a/c/2", limit: 10 },
    );
    expect(page.objects.map(({ key }) => key)).toEqual(["a/c/3"]);
    expect(read).toEqual(["a/", "a/c/"]);
  });
});

describe("sweepTree()", () => {
  test("skips folders without read permission, and stops at any other error", async () => {
    const part = partName("x");
    const tree: Record<string, readonly TreeChild[] | Failure> = {
      "": [child("closed", "folder"), child("open", "folder"), child("link", "other"), child(part, "file")],
      "closed/": new Failure("remote_failed", "permission_denied", "Cannot list"),
      "open/": [child(part, "file"), child("x", "file")],
    };
    const removed: string[] = [];
    const sweep = () =>
      sweepTree(
        async (folder) => {
          const found = tree[folder];
          if (found instanceof Failure) throw found;
          return found ?? [];
        },
        { prefix: "", before: new Date(1), remove: async (path) => void removed.push(path) },
      );
    expect(await sweep()).toBe(2);
    expect(removed).toEqual([part, `open/${part}`]);
    tree["open/"] = new Failure("remote_failed", "unreachable", "Cannot list");
    await expect(sweep()).rejects.toBe(tree["open/"]);
  });
});
