import type { RepositoryName } from "../../domain/githost/repository.ts";

const NAME = /^(?!\.{1,2}$)[\w.-]{1,100}$/;

// What git forbids in names of branches, and what would lead elsewhere in a URL.
// oxlint-disable-next-line no-control-regex
const NO_BRANCH = /[\u0000-\u0020\u007F~^:?*[\\]|\.\.|^[./-]|\/$|\/\/|\/\.|\.$/;

/** Returns whether a git host can have a repository of this name. Others are not asked for: they may lead elsewhere. */
export function isRepositoryName({ owner, repo }: RepositoryName): boolean {
  return NAME.test(owner) && NAME.test(repo);
}

/** Returns whether a repository can have a branch of this name. */
export function isBranchName(branch: string): boolean {
  return branch !== "" && !NO_BRANCH.test(branch);
}

/** Returns the parts of a path; `undefined` if a repository can have nothing there. */
export function pathParts(path: string): readonly string[] | undefined {
  const parts = path.split("/").filter((part) => part !== "");
  // oxlint-disable-next-line no-control-regex
  const isPossible = parts.every((part) => part !== "." && part !== ".." && !/[\u0000-\u001F\u007F]/.test(part));
  return isPossible ? parts : undefined;
}
