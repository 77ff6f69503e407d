import type { ProjectSettings } from "../projects/project.ts";
import { isBranchName } from "../projects/project.ts";
import type { RepositoryName } from "./repository.ts";

/** A push to a repository, as the git host reports it. */
export interface Push {
  readonly repository: RepositoryName;
  readonly defaultBranch: string;
  readonly ref: string;
  readonly before: string;
  readonly after: string;
  readonly deleted: boolean;
  /** When it was pushed, as the git host counts time: the same in every report of this push. */
  readonly pushedAt: number | null;
  /** The first line of the message of its newest commit. */
  readonly message: string | null;
}

/** What a push means for a project. */
export type PushDecision =
  | { readonly decision: "deploy"; readonly branch: string }
  | { readonly decision: "ignored"; readonly reason: string };

const BRANCH = "refs/heads/";
const LONGEST_LINE = 500;
const SHA = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

/** Reads the body of a push event; `undefined` if it is none. */
export function readPush(body: unknown): Push | undefined {
  const { ref, before, after, deleted, repository, head_commit: head } = fieldsOf(body);
  const { full_name: name, default_branch: defaultBranch, pushed_at: pushedAt } = fieldsOf(repository);
  const { message } = fieldsOf(head);
  const named = repositoryNamed(name);
  if (!named || !isText(ref) || !isText(before) || !isText(after) || !isText(defaultBranch)) return undefined;
  if (!SHA.test(after) || !SHA.test(before)) return undefined;
  return {
    repository: named,
    defaultBranch: defaultBranch.slice(0, LONGEST_LINE),
    ref: ref.slice(0, LONGEST_LINE),
    before,
    after,
    deleted: deleted === true || /^0+$/.test(after),
    pushedAt: typeof pushedAt === "number" ? pushedAt : null,
    message: isText(message) ? (message.split("\n")[0] ?? "").slice(0, LONGEST_LINE) : null,
  };
}

/** Returns the repository that the body of any event names; `undefined` if it names none. */
export function repositoryIn(body: unknown): RepositoryName | undefined {
  return repositoryNamed(fieldsOf(fieldsOf(body)["repository"])["full_name"]);
}

/** Decides what a push means for a project that is linked to the repository. */
export function decideOnPush(
  { ref, deleted, defaultBranch }: Push,
  { autoDeploy, gitBranch }: Pick<ProjectSettings, "autoDeploy" | "gitBranch">,
): PushDecision {
  if (!ref.startsWith(BRANCH)) return ignored("Only pushes to branches are deployed, and this is a tag or another ref");
  const branch = ref.slice(BRANCH.length);
  const wanted = gitBranch ?? defaultBranch;
  if (deleted) return ignored("The branch was deleted");
  if (!isBranchName(branch)) return ignored("Git would not accept this branch name");
  if (branch !== wanted) return ignored(`The project is deployed from the branch "${wanted}"`);
  if (!autoDeploy) return ignored("The project does not deploy on every push (autoDeploy is off)");
  return { decision: "deploy", branch };
}

function ignored(reason: string): PushDecision {
  return { decision: "ignored", reason };
}

/** Returns the fields of an object; none for anything else. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

/** Returns the repository with a full name; `undefined` for anything that is none. */
export function repositoryNamed(name: unknown): RepositoryName | undefined {
  const [, owner, repo] = (isText(name) && /^([^/]+)\/([^/]+)$/.exec(name)) || [];
  return owner === undefined || repo === undefined ? undefined : { owner, repo };
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
