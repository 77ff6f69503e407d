import type { MemoryRepository } from "../../../../adapters/memory/git_host_data.ts";
import { APP_AUTHOR, MAX_COMMENT, type MemoryComment } from "../../../../adapters/memory/host_pull_requests.ts";
import { HostAnswer } from "./host_answer.ts";
import { demand, type HostCaller, owns } from "./host_caller.ts";
import { type HostRequest, type HostRoute, paged, repositoryOf } from "./host_route.ts";
import { type Schemas, userShape } from "./host_shapes.ts";

/** The routes of comments on pull requests, which the host counts among its issues. */
export const COMMENT_ROUTES: readonly HostRoute[] = [
  { route: "GET /repos/:owner/:repo/issues/:number/comments", handle: list },
  { route: "POST /repos/:owner/:repo/issues/:number/comments", handle: create },
  { route: "PATCH /repos/:owner/:repo/issues/comments/:id", handle: change },
];

type Commenter = HostCaller & { readonly kind: "user" | "installation" };

function list(request: HostRequest): Response {
  const found = repositoryOf(request);
  if (found.repository.private) demand(request.caller, "pull_requests", "read");
  const number = pullOf(request, found);
  const comments = [...found.comments.values()].filter((each) => each.number === number);
  return paged(request, comments, (page) => page.map((comment) => commentShape(request, found, comment)));
}

function create(request: HostRequest): Response {
  const { state } = request;
  const found = repositoryOf(request);
  const caller = commenterOf(request, found);
  const number = pullOf(request, found);
  const body = bodyOf(request);
  const comment = { id: state.number(), number, author: state.authorOf(caller.access), body };
  found.comments.set(comment.id, comment);
  return Response.json(commentShape(request, found, comment), { status: 201 });
}

function change(request: HostRequest): Response {
  const { state, parameters } = request;
  const found = repositoryOf(request);
  const caller = commenterOf(request, found);
  const comment = found.comments.get(Number(parameters["id"]));
  if (!comment) throw HostAnswer.notFound();
  if (!owns(state, caller, found) && comment.author !== state.authorOf(caller.access))
    throw HostAnswer.error(403, "Must have admin rights to Repository.");
  const changed = { ...comment, body: bodyOf(request) };
  found.comments.set(comment.id, changed);
  return Response.json(commentShape(request, found, changed));
}

/** Returns a caller that may comment. The app needs the permission; users need a token with the scope. */
function commenterOf({ state, caller }: HostRequest, found: MemoryRepository): Commenter {
  if (caller.kind !== "user" && caller.kind !== "installation") throw HostAnswer.error(401, "Requires authentication");
  demand(caller, "pull_requests", "write");
  if (caller.kind === "installation" && !owns(state, caller, found))
    throw HostAnswer.error(403, "Resource not accessible by integration");
  if (!state.mayComment(caller.access, found.repository)) throw HostAnswer.notFound();
  return caller;
}

/** Returns the number of a pull request that the repository has. */
function pullOf({ parameters }: HostRequest, { pulls }: MemoryRepository): number {
  const text = parameters["number"]!;
  if (!/^[1-9]\d*$/.test(text) || !pulls.has(Number(text))) throw HostAnswer.notFound();
  return Number(text);
}

function bodyOf({ body: { body } }: HostRequest): string {
  if (typeof body !== "string") throw HostAnswer.error(422, 'Invalid request.\n\n"body" wasn\'t supplied.');
  if (body.trim() === "") throw HostAnswer.invalid("IssueComment", "body", "body can't be blank");
  if (body.length > MAX_COMMENT)
    throw HostAnswer.invalid("IssueComment", "body", `body is too long (maximum is ${MAX_COMMENT} characters)`);
  return body;
}

function commentShape(
  { state, api }: HostRequest,
  { repository }: MemoryRepository,
  { id, number, author, body }: MemoryComment,
): Schemas["issue-comment"] {
  const at = new Date(0).toISOString();
  const url = `${api}/repos/${repository.fullName}/issues`;
  const account = state.accounts.get(author.toLowerCase());
  const user = userShape(account ?? { login: author, id: 0, type: "User", avatarUrl: null }, api);
  return {
    id,
    node_id: `IC_${id}`,
    url: `${url}/comments/${id}`,
    html_url: `${repository.htmlUrl}/pull/${number}#issuecomment-${id}`,
    issue_url: `${url}/${number}`,
    user: author === APP_AUTHOR ? { ...user, type: "Bot" } : user,
    body,
    created_at: at,
    updated_at: at,
    author_association: author === repository.owner ? "OWNER" : "NONE",
    performed_via_github_app: null,
  };
}
