import { Failure } from "../../domain/failure.ts";
import { repositoryIn } from "../../domain/githost/push.ts";
import { isSigned } from "../../domain/githost/webhook_signature.ts";
import type { RepositoryHooks } from "../../ports/githost/repository_hooks.ts";
import type { GitHostSettings } from "./git_host_settings.ts";

export interface WebhookSignerPorts {
  readonly gitHost: GitHostSettings;
  readonly repositoryHooks: RepositoryHooks;
}

/** Who signed a delivery: the app, or the webhook that these organizations registered for a repository. */
export type Signer = { readonly kind: "app" } | { readonly kind: "hook"; readonly organizationIds: readonly string[] };

/** Returns who signed a delivery. Throws `bad_signature` if nobody did whose secret is known here. */
export async function webhookSigner(
  ports: WebhookSignerPorts,
  { body: bytes, signature }: { readonly body: Uint8Array; readonly signature: string | null },
  body: unknown,
): Promise<Signer> {
  if (signature === null) throw unsigned("it has no X-Hub-Signature-256");
  const { webhookSecret } = ports.gitHost;
  if (webhookSecret && isSigned(bytes, signature, webhookSecret)) return { kind: "app" };
  const name = repositoryIn(body);
  const hooks = name ? await ports.repositoryHooks.secrets(name) : [];
  const organizationIds: string[] = [];
  for (const { organizationId, secret } of hooks) {
    if (isSigned(bytes, signature, secret)) organizationIds.push(organizationId);
  }
  if (organizationIds.length > 0) return { kind: "hook", organizationIds };
  throw unsigned("no secret that is known here signs it");
}

function unsigned(why: string): Failure {
  const advice = "Register the webhook with POST /api/githost/repos/:owner/:repo/webhooks";
  return new Failure("unauthenticated", "bad_signature", `Cannot accept the delivery: ${why}. ${advice}`);
}
