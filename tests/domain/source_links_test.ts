import { expect, test } from "bun:test";
import { SourceLinks } from "../../domain/deployments/source_links.ts";
import { Failure } from "../../domain/failure.ts";

const tree = (links: Readonly<Record<string, string>>) => {
  const found = new SourceLinks();
  for (const path of ["a", "a/b", "c"]) found.folder(path);
  for (const [path, target] of Object.entries(links)) found.link(path, target);
  return found;
};

test.each<Record<string, string>>([
  { l: "a" },
  { l: "a/b/file" },
  { "a/l": "../c" },
  { "a/b/l": "../../c/x" },
  { l: "not/there" },
  { l: ".", m: "l/l/a" },
  { l: "a/b", m: "l/../b" },
])("check() accepts %j", (links) => {
  expect(() => tree(links).check()).not.toThrow();
});

test.each<Record<string, string>>([
  { l: "/etc" },
  { l: ".." },
  { "a/l": "../../etc" },
  { l: "a/../.." },
  { l: "file/.." },
  { l: "not/there/../.." },
  { l: "m", m: "l" },
  { l: "a", m: "l/../.." },
  { l: "a/\uFFFD" },
  { "\uFFFD": "a" },
])("check() refuses %j", (links) => {
  expect(() => tree(links).check()).toThrow(Failure);
  expect(() => tree(links).check()).toThrow(/^Cannot use this source: the link "/);
});
