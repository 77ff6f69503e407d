import { hasCommit } from "../../../../adapters/memory/host_pull_requests.ts";
import type { CommitState } from "../../../../domain/githost/commit_status.ts";
import { HostAnswer } from "./host_answer.ts";
import { demand, owns } from "./host_caller.ts";
import { type HostRequest, type HostRoute, repositoryOf } from "./host_route.ts";

/** The route of commit statuses. */
export const STATUS_ROUTES: readonly HostRoute[] = [{ route: "POST /repos/:owner/:repo/statuses/:sha", handle: put }];

const STATES = new Set(["pending", "success", "failure", "error"]);

function put(request: HostRequest): Response {
  const { state, caller, parameters, body, api } = request;
  const found = repositoryOf(request);
  const { repository, statuses } = found;
  demand(caller, "statuses", "write");
  // Those who can only read do not learn that there is something to write.
  const isIdentified = caller.kind === "user" || caller.kind === "installation";
  if (!isIdentified || !owns(state, caller, found) || !state.mayReport(caller.access, repository))
    throw HostAnswer.notFound();
  const sha = parameters["sha"]!;
  if (!hasCommit(found, sha)) throw HostAnswer.error(422, `No commit found for SHA: ${sha}`);
  const status = {
    state: textOf(body["state"]) as CommitState,
    description: textOf(body["description"]),
    targetUrl: body["target_url"] === undefined ? null : textOf(body["target_url"]),
    context: textOf(body["context"]) || "default",
  };
  if (!STATES.has(status.state)) throw HostAnswer.invalid("Status", "state", "state is not included in the list");
  if (status.description.length > 140)
    throw HostAnswer.invalid("Status", "description", "description is too long (maximum is 140 characters)");
  if (status.targetUrl !== null && !/^https?:/.test(status.targetUrl))
    throw HostAnswer.invalid("Status", "target_url", "target_url must use http(s) scheme");
  statuses.set(sha, [...(statuses.get(sha) ?? []), status]);
  const url = `${api}/repos/${repository.fullName}/statuses/${sha}`;
  const { description, context, targetUrl } = status;
  return Response.json(
    { url, id: state.number(), ...body, description, context, target_url: targetUrl },
    { status: 201 },
  );
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
