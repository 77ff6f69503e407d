import { readdir, readlink, rm } from "node:fs/promises";
import { SourceLinks } from "../../domain/deployments/source_links.ts";

/** Removes every `.git` from a checkout, including those of submodules. Throws for a symlink that points outside it. */
export async function removeGitMetadata(folder: string, signal: AbortSignal): Promise<void> {
  const links = new SourceLinks();
  const waiting = [""];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    signal.throwIfAborted();
    for (const entry of await readdir(`${folder}/${at}`, { withFileTypes: true })) {
      const path = at + entry.name;
      if (entry.name === ".git") await rm(`${folder}/${path}`, { recursive: true, force: true });
      else if (entry.isSymbolicLink()) links.link(path, await readlink(`${folder}/${path}`));
      else if (entry.isDirectory()) {
        links.folder(path);
        waiting.push(`${path}/`);
      }
    }
  }
  links.check();
}
