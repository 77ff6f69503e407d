import { cloudAway, cloudRefused, cloudUnreadable } from "../../domain/cloud/cloud_failures.ts";
import { Failure } from "../../domain/failure.ts";

/** Throws for a response that says nothing about the request: the cloud is away, or refuses the link itself. */
export async function checkLinkWorks(response: Response): Promise<void> {
  if (response.status !== 401 && response.status < 502) return;
  await response.body?.cancel();
  throw response.status === 401 ? cloudRefused() : cloudAway();
}

/** Returns the JSON object of a successful response. Throws the cloud's own words for a refusal. */
export async function cloudAnswer(response: Response): Promise<Readonly<Record<string, unknown>>> {
  await checkLinkWorks(response);
  const answer = await jsonOf(response);
  if (response.ok) return answer;
  const { error, code } = answer;
  if (typeof error !== "string" || typeof code !== "string") throw cloudUnreadable();
  throw new Failure(KINDS[response.status] ?? "remote_failed", code, `The hosted cloud answers: ${error}`);
}

const KINDS: Readonly<Record<number, Failure["kind"]>> = {
  400: "invalid",
  403: "forbidden",
  404: "not_found",
  409: "conflict",
  413: "too_large",
  429: "throttled",
};

async function jsonOf(response: Response): Promise<Readonly<Record<string, unknown>>> {
  const value: unknown = await response.json().catch((cause: unknown) => {
    throw cloudUnreadable({ cause });
  });
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw cloudUnreadable();
  return value as Readonly<Record<string, unknown>>;
}
