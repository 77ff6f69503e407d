import { describe, expect, test } from "bun:test";
import { composeRefusal } from "../support/inputs/loaded_compose.ts";

function repeated(word: string, count: number): string {
  return Array<string>(count).fill(word).join(", ");
}

function readers(file: string): string {
  const services = Array.from({ length: 100 }, (_, at) => `s${at}: {image: a, env_file: ${file}}`);
  return `services: {${services.join(", ")}}`;
}

describe("loadCompose()", () => {
  const lines = Array.from({ length: 9_000 }, (_, at) => `K${at}=v`).join("\n");
  const words = `{services: {b: {image: b, command: [${repeated("a", 4_000)}]}}}`;
  const tiring: readonly (readonly [what: string, files: Readonly<Record<string, string>>])[] = [
    ["an env file of a hundred services", { "compose.yaml": readers("b.env"), "b.env": lines }],
    ["the .env file used by a hundred services", { "compose.yaml": readers(".env"), ".env": lines }],
    ["a file included a hundred times", { "compose.yaml": `include: [${repeated("b.yaml", 100)}]`, "b.yaml": words }],
    [
      "a file merged with itself a hundred times",
      { "compose.yaml": `include: [{path: [${repeated("b.yaml", 100)}]}]`, "b.yaml": words },
    ],
    [
      "a long chain of services that extend each other",
      {
        "compose.yaml": `services:\n  s0: {image: a, tmpfs: [/a]}\n${Array.from({ length: 1_000 }, (_, at) => `  s${at + 1}: {extends: s${at}, tmpfs: [/a]}\n`).join("")}`,
      },
    ],
    [
      "a thousand mistakes",
      {
        "compose.yaml": `services: {a: {image: a, volumes: [${Array.from({ length: 1_000 }, (_, at) => `"v${at}:/v"`).join(", ")}]}}`,
      },
    ],
  ];
  for (const [what, files] of tiring) {
    test(`gives up on ${what}`, async () => {
      const failure = await composeRefusal(files);
      expect(failure.code).toBe("compose_invalid");
      expect(failure.details?.[0]?.message).toContain("it is too complex");
    });
  }

  test("refuses services that are huge when expanded", async () => {
    const aliases = Array.from({ length: 5_000 }, (_, at) => `K${at}: *big`).join(", ");
    const text = `x-big: &big "${"x".repeat(40_000)}"\nservices: {a: {image: a, environment: {${aliases}}}}`;
    expect((await composeRefusal({ "compose.yaml": text })).message).toContain("written out");
    const variable = text.replace('"xxx', '"$A xxx');
    expect((await composeRefusal({ "compose.yaml": variable })).message).toContain("too long");
  });
});
