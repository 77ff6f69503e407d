import { describe, expect, test } from "bun:test";
import { baseImageEntry, isImageName, mappedImage } from "../../domain/image/base_images.ts";

function mapped(setting: string, image: string): string {
  return mappedImage(
    setting.split(" ").map((entry) => baseImageEntry(entry)!),
    image,
  );
}

const DIGEST = `sha256:${"a1".repeat(32)}`;

describe("mappedImage()", () => {
  test.each([
    ["node=mirror.example.com/node", "node:22-bookworm-slim", "mirror.example.com/node:22-bookworm-slim"],
    ["node=mirror.example.com:5000/js/node", "node:22", "mirror.example.com:5000/js/node:22"],
    ["node=mirror.example.com/node:lts", "node:22", "mirror.example.com/node:lts"],
    ["node=local-node:1", "library/node:22", "local-node:1"],
    ["docker.io/library/node=local-node", "node:22", "local-node:22"],
    ["docker.io/node=local-node", "node:22", "local-node:22"],
    ["index.docker.io/library/node=local-node", "node:22", "local-node:22"],
    ["node=local-node", "docker.io/library/node", "local-node"],
    [`node=local-node@${DIGEST}`, "node:22", `local-node@${DIGEST}`],
    ["node=local-node", `node:22@${DIGEST}`, `local-node:22@${DIGEST}`],
    ["node:22=local-node:a", "node:22", "local-node:a"],
    ["node:22=local-node", "node:22", "local-node:22"],
    ["oven/bun=local-bun", "oven/bun:1-slim", "local-bun:1-slim"],
    ["oven/=mirror.example.com/oven/", "oven/bun:1-slim", "mirror.example.com/oven/bun:1-slim"],
    ["library/=mirror.example.com/", "python:3.13-slim", "mirror.example.com/python:3.13-slim"],
    [
      "mcr.microsoft.com/=mirror.example.com/mcr/",
      "mcr.microsoft.com/dotnet/sdk:9.0",
      "mirror.example.com/mcr/dotnet/sdk:9.0",
    ],
    ["localhost:5000/=mirror.example.com/", "localhost:5000/node", "mirror.example.com/node"],
    ["*=mirror.example.com/hub/", "node:22", "mirror.example.com/hub/library/node:22"],
    ["*=mirror.example.com/hub/", "oven/bun:1", "mirror.example.com/hub/oven/bun:1"],
    ["*=everything:1", "oven/bun:1-slim", "everything:1"],
  ])("with %s turns %s into %s", (setting, image, expected) => {
    expect(mapped(setting, image)).toBe(expected);
  });

  test.each([
    ["node=local-node", "nodejs:22"],
    ["node=local-node", "oven/node:22"],
    ["node=local-node", "mirror.example.com/library/node:22"],
    ["node:22=local-node", "node:22-slim"],
    ["node:22=local-node", "node"],
    ["oven/=mirror.example.com/oven/", "oven"],
    ["*=mirror.example.com/", "mcr.microsoft.com/dotnet/sdk:9.0"],
    ["*=mirror.example.com/", "localhost/node:22"],
    ["mirror.example.com/=other.example.com/", "mirror.example.com:5000/node:22"],
  ])("with %s leaves %s alone", (setting, image) => {
    expect(mapped(setting, image)).toBe(image);
  });

  test("uses the longest matching entry, in any order", () => {
    const entries = [
      "*=all.example.com/",
      "library/=official.example.com/",
      "node=a.example.com/node",
      "node:22=b.example.com/node:22",
    ];
    for (const setting of [entries, entries.toReversed()].map((each) => each.join(" "))) {
      expect(mapped(setting, "node:22")).toBe("b.example.com/node:22");
      expect(mapped(setting, "node:20")).toBe("a.example.com/node:20");
      expect(mapped(setting, "golang:1.26")).toBe("official.example.com/golang:1.26");
      expect(mapped(setting, "oven/bun:1")).toBe("all.example.com/oven/bun:1");
    }
  });
});

describe("baseImageEntry()", () => {
  test.each([
    "",
    "node",
    "=",
    "node=",
    "=node",
    "node=a=b",
    "node==b",
    "Node=a",
    "node=A/b",
    "node=a b",
    "node=a\nRUN b",
    "node=$(a)",
    "node=-a",
    "no*de=a",
    "*",
    "*=*",
    "node=*",
    "node:=a",
    "node:a:b=c",
    "node=a:",
    "node=mirror.example.com/",
    "oven/=bun",
    "oven/=bun:1",
    "/=a/",
    "//=a/",
    "oven//=a/",
    "oven/bun@sha256:12=a",
    `${"a".repeat(600)}=b`,
    `a=${"b".repeat(600)}`,
  ])("refuses %j", (text) => {
    expect(baseImageEntry(text)).toBeUndefined();
  });

  test("reads long hostile names quickly", () => {
    expect(isImageName(`${"a-".repeat(200)}!`)).toBe(false);
    expect(isImageName(`${"a.".repeat(200)}!`)).toBe(false);
    expect(baseImageEntry(`${"a/".repeat(249)}=${"b.".repeat(249)}/`)).toBeUndefined();
  });
});
