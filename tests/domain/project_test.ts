import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  checkSettings,
  isBranchName,
  isGitName,
  isGitUrl,
  isInnerPath,
  isSlug,
  mergeSettings,
  type ProjectSettings,
  SETTINGS_BYTES,
  slugOf,
  sourceOf,
} from "../../domain/projects/project.ts";

describe("sourceOf()", () => {
  test.each([
    [{}, "upload"],
    [{ gitOwner: "acme", gitRepo: "shop" }, "githost"],
    [{ gitOwner: "acme", gitRepo: "shop", gitUrl: "https://h/x", localPath: "/x" }, "githost"],
    [{ gitOwner: "acme", gitUrl: "https://h/x" }, "git"],
    [{ gitUrl: "https://h/x", localPath: "/x" }, "git"],
    [{ localPath: "/x" }, "local"],
  ] as const)("of %j is %s", (settings, expected) => {
    expect(sourceOf(settings)).toBe(expected);
  });
});

describe("slugs", () => {
  test.each(["a", "0", "shop", "my-shop-2", "a--b", "x".repeat(40)])("isSlug() accepts %j", (text) => {
    expect(isSlug(text)).toBe(true);
  });

  test.each(["", "-", "-a", "a-", "A", "a_b", "a.b", "a b", "ä", "a\n", "x".repeat(41), "a/b"])(
    "isSlug() refuses %j",
    (text) => {
      expect(isSlug(text)).toBe(false);
    },
  );

  test.each([
    ["My Shop", "my-shop"],
    ["  --Hello,   World!--  ", "hello-world"],
    ["Crème Brûlée", "creme-brulee"],
    ["日本語", "project"],
    ["", "project"],
    ["!!!", "project"],
    ["ﬁnance ②", "finance-2"],
    [`${"a".repeat(39)} b`, "a".repeat(39)],
    ["x".repeat(100), "x".repeat(40)],
    ["İstanbul", "istanbul"],
  ])("slugOf() turns %j into %j", (name, expected) => {
    expect(slugOf(name)).toBe(expected);
  });

  test("slugOf() returns a slug for every name, and keeps a slug", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 80 }), (name) => {
        const slug = slugOf(name);
        expect(isSlug(slug)).toBe(true);
        expect(slugOf(slug)).toBe(slug.replaceAll(/-+/g, "-"));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("mergeSettings()", () => {
  test("replaces given fields, removes those that are null, keeps the rest", () => {
    const settings: ProjectSettings = { port: 80, framework: "next", autoDeploy: true };
    expect(mergeSettings(settings, { port: 81, framework: null })).toEqual({ port: 81, autoDeploy: true });
    expect(settings).toEqual({ port: 80, framework: "next", autoDeploy: true });
  });

  test("keeps values that are false, zero or empty", () => {
    const merged = mergeSettings({}, { autoDeploy: false, rollbackWindow: 0, buildCommand: "", services: [] });
    expect(merged).toEqual({ autoDeploy: false, rollbackWindow: 0, buildCommand: "", services: [] });
  });

  const link = { gitOwner: "acme", gitRepo: "shop" };
  const address = { gitUrl: "https://git.example.com/shop.git" };
  const folder = { localPath: "/srv/shop" };

  test.each([
    [link, address],
    [link, folder],
    [address, link],
    [address, folder],
    [folder, link],
    [folder, address],
    [{ ...address, ...folder }, link],
  ] as ProjectSettings[][])("replaces the source %j by %j", (former, next) => {
    expect(mergeSettings({ ...former!, gitBranch: "main", port: 80 }, next!)).toEqual({
      ...next,
      gitBranch: "main",
      port: 80,
    });
  });

  test("changes a part of the source only, keeps sources given together, and can remove one", () => {
    expect(mergeSettings(link, { gitRepo: "store" })).toEqual({ gitOwner: "acme", gitRepo: "store" });
    expect(mergeSettings(folder, { ...link, ...address })).toEqual({ ...link, ...address });
    expect(mergeSettings({ ...link, port: 80 }, { gitOwner: null, gitRepo: null })).toEqual({ port: 80 });
  });

  test.each([address, folder, { gitOwner: null, gitRepo: null }])("stops deploying on pushes with %j", (change) => {
    expect(mergeSettings({ ...link, autoDeploy: true }, change)).not.toHaveProperty("autoDeploy");
    // An explicit request is refused later, not dropped here.
    expect(mergeSettings({ ...link, autoDeploy: true }, { ...change, autoDeploy: true })).toHaveProperty("autoDeploy");
  });

  test("stops deploying on pushes once another repository is linked, which nothing may report", () => {
    const merged = mergeSettings({ ...link, autoDeploy: true }, { gitOwner: "acme", gitRepo: "store" });
    expect(merged).toEqual({ gitOwner: "acme", gitRepo: "store" });
    expect(mergeSettings({ ...link, autoDeploy: true }, { ...link, port: 80 }).autoDeploy).toBe(true);
  });

  test("leaves no key of a removed setting", () => {
    expect(Object.keys(mergeSettings({ port: 80 }, { port: null }))).toEqual([]);
  });
});

/** Settings that contain a text. */
function holding(text: string): ProjectSettings {
  return { services: [{ name: "web", environment: { TEXT: text } }] };
}

describe("checkSettings()", () => {
  test("counts the settings as JSON in UTF-8, and accepts the maximum", () => {
    const room = SETTINGS_BYTES - JSON.stringify(holding("")).length;
    expect(checkSettings(holding("x".repeat(room)))).toBeUndefined();
    for (const text of ["x".repeat(room + 1), "ä".repeat(room / 2 + 1), '"'.repeat(room / 2 + 1)]) {
      expect(() => checkSettings(holding(text))).toThrow(/at most 262144 bytes, and these have 26\d{4}\./);
    }
  });

  test.each([
    {},
    { gitOwner: "acme", gitRepo: "shop.js", gitBranch: "feature/x", autoDeploy: true },
    { gitUrl: "https://git.example.com/shop.git" },
    { autoDeploy: false },
    { rootDirectory: "", outputDirectory: "dist/web" },
    { rootDirectory: "./apps/web" },
    { healthPath: "/" },
    { hostPaths: ["/", "/srv/shop/", "shop_data.2"] },
    { healthPath: "/health?deep=1&x=%20" },
  ] as ProjectSettings[])("accepts %j", (settings) => {
    expect(checkSettings(settings)).toBeUndefined();
  });

  test.each([
    ["gitRepo", { gitOwner: "acme" }],
    ["gitOwner", { gitRepo: "shop" }],
    ["gitOwner", { gitOwner: "", gitRepo: "" }],
    ["gitOwner", { gitOwner: "--upload-pack=x", gitRepo: "shop" }],
    ["gitRepo", { gitOwner: "acme", gitRepo: "../etc" }],
    ["gitRepo", { gitOwner: "acme", gitRepo: "a b" }],
    ["gitBranch", { gitBranch: "--upload-pack=x" }],
    ["gitBranch", { gitBranch: "" }],
    ["gitUrl", { gitUrl: "ext::sh -c id" }],
    ["gitUrl", { gitUrl: "https://user:password@example.com/x" }],
    ["rootDirectory", { rootDirectory: "../other" }],
    ["rootDirectory", { rootDirectory: "--help" }],
    ["rootDirectory", { rootDirectory: "/etc" }],
    ["outputDirectory", { outputDirectory: "dist/../../x" }],
    ["outputDirectory", { outputDirectory: "-rf" }],
    ["outputDirectory", { outputDirectory: "a\0b" }],
    ["healthPath", { healthPath: "health" }],
    ["healthPath", { healthPath: "" }],
    ["healthPath", { healthPath: "//evil.example.com/" }],
    ["healthPath", { healthPath: "/\\evil.example.com/" }],
    ["healthPath", { healthPath: "/a b" }],
    ["healthPath", { healthPath: "/a\r\nHost: evil" }],
    ["hostPaths.1", { hostPaths: ["/srv", "srv/shop"] }],
    ["hostPaths.0", { hostPaths: ["/srv/../etc"] }],
    ["hostPaths.0", { hostPaths: ["/a\0b"] }],
    ["hostPaths.0", { hostPaths: [""] }],
    ["autoDeploy", { autoDeploy: true }],
    ["autoDeploy", { autoDeploy: true, gitUrl: "https://git.example.com/x" }],
  ] as [string, ProjectSettings][])("refuses %s in %j", (path, settings) => {
    expect(() => checkSettings(settings)).toThrow(
      expect.objectContaining({ kind: "invalid", details: [expect.objectContaining({ path })] }),
    );
  });

  test("does not repeat the refused value", () => {
    const gitUrl = "https://user:swordfish@example.com/x";
    expect(() => checkSettings({ gitUrl })).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining("swordfish") }),
    );
  });
});

describe("isGitName()", () => {
  test.each(["acme", "a", "A.b-c_d", "_x", "0", "x".repeat(100)])("accepts %j", (text) => {
    expect(isGitName(text)).toBe(true);
  });

  test.each(["", "-a", ".", "..", "a..b", "a/b", "a b", "a\n", "$(id)", "a;b", "ä", "x".repeat(101), ".git"])(
    "refuses %j",
    (text) => {
      expect(isGitName(text)).toBe(false);
    },
  );
});

describe("isBranchName()", () => {
  test.each([
    "main",
    "feature/x-1",
    "release/1.2.3",
    "日本語/ü-🚀",
    "a@b",
    "x{y}",
    "$(id)",
    "a'b\"c",
    "HEADS",
    "head",
    "a/-b",
    "]",
  ])("accepts %j", (text) => {
    expect(isBranchName(text)).toBe(true);
  });

  test.each([
    "",
    "-x",
    "--upload-pack=x",
    "/x",
    "x/",
    "a//b",
    "a..b",
    ".x",
    "a/.b",
    "x.",
    "x.lock",
    "a.lock/b",
    "a b",
    "a\tb",
    "a\nb",
    "a\x7fb",
    "a~1",
    "a^",
    "a:b",
    "a?",
    "a*",
    "a[b",
    "a\\b",
    "@",
    "a@{1}",
    "HEAD",
    "+refs:x",
    "x".repeat(245),
  ])("refuses %j", (text) => {
    expect(isBranchName(text)).toBe(false);
  });
});

describe("isGitUrl()", () => {
  test.each([
    "https://git.example.com/acme/shop.git",
    "https://git.example.com:8443/acme/shop",
    "https://[2001:db8::1]/shop",
    "ssh://git@git.example.com/acme/shop.git",
    "ssh://git.example.com:2222/shop",
    "git@git.example.com:acme/shop.git",
    "git@git.example.com:/srv/shop.git",
    "git@git.example.com:~user/shop",
    "https://git.example.com/a%20b.git",
  ])("accepts %j", (text) => {
    expect(isGitUrl(text)).toBe(true);
  });

  test.each([
    ["nothing", ""],
    ["a path", "/srv/shop.git"],
    ["a relative path", "../shop.git"],
    ["a file", "file:///srv/shop.git"],
    ["plain http", "http://git.example.com/shop"],
    ["the git protocol", "git://git.example.com/shop"],
    ["a transport helper", "ext::sh -c id"],
    ["a transport helper without spaces", "ext::id"],
    ["a helper before an address", "fd::https://git.example.com/x"],
    ["an option", "--upload-pack=id"],
    ["an option as host", "ssh://-oProxyCommand=id/x"],
    ["an escaped option as host", "ssh://%2DoProxyCommand=id/x"],
    ["an option as user", "ssh://-x@git.example.com/x"],
    ["an escaped option as user", "ssh://%2Dx@git.example.com/x"],
    ["an option as host, short form", "git@-oProxyCommand=id:x"],
    ["an option as path, short form", "git@git.example.com:-x"],
    ["a name, by https", "https://user@git.example.com/x"],
    ["a password", "https://user:password@git.example.com/x"],
    ["a password, by ssh", "ssh://user:password@git.example.com/x"],
    ["a host without //", "https:git.example.com/x"],
    ["a host after one /", "https:/git.example.com/x"],
    ["a host without //, by ssh", "ssh:git.example.com/x"],
    ["backslashes", "https:\\\\git.example.com\\x"],
    ["a backslash that hides the host", "https://evil.example.com\\@git.example.com/x"],
    ["no host", "ssh:///x"],
    ["no host at all", "ssh://"],
    ["a space", "https://git.example.com/a b"],
    ["a line break", "https://git.example.com/\nx"],
    ["a NUL", "https://git.example.com/\0"],
    ["too much", `https://git.example.com/${"x".repeat(2_000)}`],
  ])("refuses %s", (_, text) => {
    expect(isGitUrl(text)).toBe(false);
  });
});

describe("isInnerPath()", () => {
  test.each(["", ".", "a", "a/b", "./a", "a..b", "...", "a/...", "日本/ü"])("accepts %j", (path) => {
    expect(isInnerPath(path)).toBe(true);
  });

  test.each(["/", "/a", "..", "../a", "a/..", "a/../b", "a\0", "a/../../b", "x".repeat(1_001)])(
    "refuses %j",
    (path) => {
      expect(isInnerPath(path)).toBe(false);
    },
  );
});
