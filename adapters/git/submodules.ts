import { lstat } from "node:fs/promises";
import { invalid } from "../../domain/failure.ts";
import { isInnerPath } from "../../domain/projects/project.ts";
import { gitAddress } from "./git_address.ts";
import type { GitCheckout } from "./git_checkout.ts";

const MAX_DEPTH = 10;
const MAX_SUBMODULES = 500;

interface Submodule {
  readonly path: string;
  readonly url: string;
}

/**
 * Clones the submodules of a checkout recursively, each at its own commit and only over allowed protocols. Throws
 * `git_too_many_submodules` above 500 submodules or 10 levels.
 */
export async function updateSubmodules(checkout: GitCheckout): Promise<void> {
  const waiting = [{ folder: "", depth: 1 }];
  let count = 0;
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const submodule of await submodulesOf(checkout, at.folder)) {
      count += 1;
      if (at.depth > MAX_DEPTH || count > MAX_SUBMODULES) {
        throw invalid(
          "git_too_many_submodules",
          `Cannot clone the repository: it has more than ${MAX_SUBMODULES} submodules or nests them more than ${MAX_DEPTH} deep`,
        );
      }
      await update(checkout, at.folder, submodule);
      waiting.push({ folder: `${at.folder}${submodule.path}/`, depth: at.depth + 1 });
    }
  }
}

async function submodulesOf(checkout: GitCheckout, folder: string): Promise<Submodule[]> {
  const file = await lstat(`${checkout.folder}/${folder}.gitmodules`).catch(() => undefined);
  if (!file?.isFile()) return [];
  const action = "read the submodules of the repository";
  await checkout.git({ arguments: ["submodule", "--quiet", "init"], folder, action });
  const [urls, paths] = [
    await checkout.try({ arguments: ["config", "--local", "-z", "--get-regexp", "^submodule\\..*\\.url$"], folder }),
    await checkout.try({
      arguments: ["config", "--file", ".gitmodules", "-z", "--get-regexp", "^submodule\\..*\\.path$"],
      folder,
    }),
  ];
  const pathOf = new Map(entriesOf(paths.output, ".path"));
  return entriesOf(urls.output, ".url").flatMap(([name, url]) => {
    const path = pathOf.get(name);
    return path !== undefined && isInnerPath(path) ? [{ path, url }] : [];
  });
}

/** Parses the output of `git config -z` into names and values. */
function entriesOf(output: string, suffix: string): [string, string][] {
  return output
    .split("\0")
    .filter((entry) => entry.includes("\n"))
    .map((entry) => [
      entry.slice("submodule.".length, entry.indexOf("\n") - suffix.length),
      entry.slice(entry.indexOf("\n") + 1),
    ]);
}

async function update(checkout: GitCheckout, folder: string, { path, url }: Submodule): Promise<void> {
  const action = `clone the submodule ${JSON.stringify(folder + path)}`;
  const address = gitAddress(url, { allowHttp: checkout.allowHttp, action });
  await checkout.say(`Cloning the submodule ${folder}${path}`);
  const words = ["submodule", "--quiet", "update", "--checkout", "--force"];
  const shallow = await checkout.try({ arguments: [...words, "--depth=1", "--", path], address, folder });
  if (shallow.code === 0) return;
  // Not every host serves a single commit. Fetches all of them then.
  const inner = `${folder}${path}`;
  const cloned = await lstat(`${checkout.folder}/${inner}/.git`).catch(() => undefined);
  if (cloned) await checkout.try({ arguments: ["fetch", "--quiet", "--unshallow", "origin"], address, folder: inner });
  await checkout.git({ arguments: [...words, "--", path], address, folder, action });
}
