import { expect, test } from "bun:test";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

const DOCS = join(import.meta.dir, "../../../docs");

test("docs/behind-a-proxy.md quotes every configuration in docs/proxies as it is tested", async () => {
  const page = await readFile(join(DOCS, "behind-a-proxy.md"), "utf8");
  const quoted = Array.from(page.matchAll(/^```(?:nginx|haproxy|caddy)\n(.*?)^```$/gms), ([, text]) => text);
  const names = await readdir(join(DOCS, "proxies"));
  const files = await Promise.all(names.map((name) => readFile(join(DOCS, "proxies", name), "utf8")));
  expect(quoted.toSorted()).toEqual(files.toSorted());
});
