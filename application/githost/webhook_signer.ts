import { Failure } from "../../domain/failure.ts";
import { repositoryNamed } from "../../domain/githost/push.ts";
import { fullName, type RepositoryName } from "../../domain/githost/repository.ts";
import { isSigned } from "../../domain/githost/webhook_signature.ts";
import { isGitName } from "../../domain/projects/project.ts";
import type { RepositoryHooks } from "../../ports/githost/repository_hooks.ts";
import type { GitHostSettings } from "./git_host_settings.ts";

export interface WebhookSignerPorts {
  readonly gitHost: GitHostSettings;
  readonly repositoryHooks: RepositoryHooks;
}

/** Who signed a delivery: the app, or the webhook that these organizations registered for a repository. */
export type Signer =
  | { readonly kind: "app" }
  | { readonly kind: "hook"; readonly repository: RepositoryName; readonly organizationIds: readonly string[] };

const NAMES = /"full_name"\s*:\s*"([\w.-]{1,100}\/[\w.-]{1,100})"/g;
/** A delivery names its repository, and perhaps those that it was forked from. */
const MOST_NAMES = 5;

/**
 * Returns who signed a delivery. Throws `bad_signature` if nobody did whose secret is known here. Looks for the names of
 * repositories without parsing the body, which anybody may have sent.
 */
export async function webhookSigner(
  { gitHost, repositoryHooks }: WebhookSignerPorts,
  { body, signature }: { readonly body: Uint8Array; readonly signature: string | null },
): Promise<Signer> {
  if (signature === null) throw unsigned("it has no X-Hub-Signature-256");
  const { webhookSecret } = gitHost;
  if (webhookSecret && isSigned(body, signature, webhookSecret)) return { kind: "app" };
  for (const repository of namesIn(body)) {
    const hooks = await repositoryHooks.secrets(repository);
    const signing = hooks.filter(({ secret }) => isSigned(body, signature, secret));
    const organizationIds = signing.map(({ organizationId }) => organizationId);
    if (organizationIds.length > 0) return { kind: "hook", repository, organizationIds };
  }
  throw unsigned("no secret that is known here signs it");
}

function namesIn(body: Uint8Array): readonly RepositoryName[] {
  const text = new TextDecoder("latin1").decode(body);
  const found = new Map<string, RepositoryName>();
  for (const [, named] of text.matchAll(NAMES)) {
    const name = repositoryNamed(named);
    if (name && isGitName(name.owner) && isGitName(name.repo)) found.set(fullName(name).toLowerCase(), name);
    if (found.size === MOST_NAMES) break;
  }
  return [...found.values()];
}

function unsigned(why: string): Failure {
  const advice = "Register the webhook with POST /api/githost/repos/:owner/:repo/webhooks";
  return new Failure("unauthenticated", "bad_signature", `Cannot accept the delivery: ${why}. ${advice}`);
}
