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
