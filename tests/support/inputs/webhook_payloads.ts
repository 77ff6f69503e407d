import examples from "@octokit/webhooks-examples";

type Json = Record<string, unknown>;

/** Returns the first real payload of an event that fits, as GitHub publishes them. */
export function webhookExample(event: string, fits: (payload: Json) => boolean = () => true): Json {
  const all = (examples as unknown as { name: string; examples: Json[] }[]).find(({ name }) => name === event);
  const found = all?.examples.find(fits);
  if (!found) throw new Error(`There is no such example of ${event}`);
  return structuredClone(found);
}

/** A push payload of the given repository, made from a real one. */
export function pushPayload(
  repository: string,
  change: {
    ref?: string;
    before?: string;
    after?: string;
    deleted?: boolean;
    installationId?: number;
    at?: number;
  } = {},
): Json {
  const { ref = "refs/heads/main", before = "0".repeat(39) + "1", after = sha(), deleted = false } = change;
  const example = webhookExample("push");
  const described = example["repository"] as Json;
  return {
    ...example,
    ref,
    before,
    after,
    deleted,
    head_commit: deleted
      ? null
      : { ...(webhookExample("push", (each) => each["head_commit"] !== null)["head_commit"] as Json), id: after },
    repository: { ...described, full_name: repository, default_branch: "main", pushed_at: change.at ?? unique++ },
    ...(change.installationId !== undefined && { installation: { id: change.installationId } }),
  };
}

/** A payload about a pull request of the given repository, made from a real one. */
export function pullRequestPayload(
  repository: string,
  change: {
    action: string;
    number: number;
    headSha: string;
    headRef: string;
    /** The full name of the repository that the branch is in; `null` for a fork that was deleted. */
    headRepository?: string | null;
    isOpen?: boolean;
    updatedAt?: Date;
    installationId?: number;
    title?: string;
  },
): Json {
  const { action, number, headSha, headRef, headRepository = repository, isOpen = action !== "closed" } = change;
  const example = webhookExample("pull_request", (each) => each["action"] === (isOpen ? "opened" : "closed"));
  const { installation: _installation, ...rest } = example;
  const pull = example["pull_request"] as Json & { head: Json; base: Json };
  const described = named(example["repository"] as Json, repository);
  const label = `${headRepository?.split("/")[0] ?? "unknown"}:${headRef}`;
  const repo = headRepository === null ? null : named(pull.head["repo"] as Json, headRepository);
  return {
    ...rest,
    action,
    number,
    ...(action === "synchronize" && { before: sha(), after: headSha }),
    pull_request: {
      ...pull,
      number,
      html_url: `https://github.com/${repository}/pull/${number}`,
      state: isOpen ? "open" : "closed",
      title: change.title ?? pull["title"],
      updated_at: (change.updatedAt ?? new Date(unique++ * 1_000)).toISOString().replace(/\.\d+Z$/, "Z"),
      head: { ...pull.head, label, ref: headRef, sha: headSha, repo },
      base: { ...pull.base, label: `${repository.split("/")[0]}:main`, ref: "main", repo: described },
    },
    repository: described,
    ...(change.installationId !== undefined && { installation: { id: change.installationId } }),
  };
}

/** Gives a repository of a payload another name. */
function named(repository: Json, fullName: string): Json {
  const [login, name] = fullName.split("/");
  const owner = { ...(repository["owner"] as Json), login };
  return { ...repository, name, full_name: fullName, owner, default_branch: "main" };
}

let unique = 1_800_000_000;

/** A commit id that no other has. */
export function sha(): string {
  return new Bun.CryptoHasher("sha1").update(crypto.randomUUID()).digest("hex");
}

/** The headers of a delivery that is signed with a secret. */
export function signedHeaders(event: string, body: string | Uint8Array, secret: string): Record<string, string> {
  const signature = new Bun.CryptoHasher("sha256", secret).update(body).digest("hex");
  return {
    "content-type": "application/json",
    "x-github-event": event,
    "x-github-delivery": crypto.randomUUID(),
    "x-hub-signature-256": `sha256=${signature}`,
  };
}
