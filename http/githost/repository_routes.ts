import { Elysia, t } from "elysia";
import type { CloneToken } from "../../application/githost/mint_clone_token.ts";
import type { GitHostUseCases } from "../../application/githost/use_cases.ts";
import type { Branch, FileEntry } from "../../domain/githost/repository.ts";
import type { Access } from "../access.ts";
import { operation } from "../operation.ts";
import { Done, EmptyObject, listResponse, many, object, one, text, viewText } from "../schema.ts";
import {
  BranchesFlag,
  BranchView,
  FileEntryView,
  FileQuery,
  FilesQuery,
  FileView,
  NamePath,
  NewRepositoryBody,
  RepositoriesQuery,
  RepositoryView,
  repositoryView,
  SearchQuery,
} from "./schemas.ts";

const FAILURES = [400, 502, 503];

const repositoryText = viewText(repositoryView);
const fileText = viewText((entry: FileEntry) => entry);
const branchText = viewText(({ name, sha, protected: isProtected }: Branch) => ({ name, sha, protected: isProtected }));

/** Routes of the repositories on the git host. */
export function repositoryRoutes(access: Access, useCases: GitHostUseCases) {
  return new Elysia({ prefix: "/api/githost", tags: ["Git host"] })
    .use(access)
    .use(listRoutes(access, useCases))
    .use(changeRoutes(access, useCases))
    .use(repositoryRoute(access, useCases))
    .use(contentRoutes(access, useCases))
    .use(fileRoutes(access, useCases));
}

function listRoutes(access: Access, useCases: GitHostUseCases) {
  return new Elysia({ name: "http/githost/lists" })
    .use(access)
    .get(
      "/repos",
      ({ principal, query, request: { signal } }) =>
        listResponse(query, (page) => useCases.listRepositories(principal, query, page, signal), repositoryText),
      {
        permission: "githost:list",
        query: RepositoriesQuery,
        ...operation({
          name: "githost.list_repositories",
          summary: "List the repositories on the git host that the member may see",
          answer: many(RepositoryView),
          problems: FAILURES,
        }),
      },
    )
    .get(
      "/orgs/:org/repos",
      ({ principal, params: { org: owner }, query, request: { signal } }) =>
        listResponse(
          query,
          (page) => useCases.listRepositories(principal, { ...query, owner }, page, signal),
          repositoryText,
        ),
      {
        permission: "githost:list",
        params: object({ org: text(100, { description: "Name of the organization on the git host" }) }),
        query: SearchQuery,
        ...operation({
          name: "githost.list_organization",
          summary: "List the repositories of one account on the git host that the member may see",
          answer: many(RepositoryView),
          problems: FAILURES,
        }),
      },
    );
}

function changeRoutes(access: Access, useCases: GitHostUseCases) {
  return new Elysia({ name: "http/githost/changes" }).use(access).post(
    "/repos",
    async ({ principal, body, set, request }) => {
      const wanted = { ...body, private: body.private ?? true };
      const repository = await useCases.createRepository(principal, wanted, request.signal);
      set.status = 201;
      return { data: repositoryView(repository) };
    },
    {
      permission: "githost:write",
      body: NewRepositoryBody,
      ...operation({
        name: "githost.create_repository",
        summary: "Create a repository on the git host",
        status: 201,
        answer: one(RepositoryView),
        problems: FAILURES,
      }),
    },
  );
}

function repositoryRoute(access: Access, useCases: GitHostUseCases) {
  return new Elysia({ name: "http/githost/repository" })
    .use(access)
    .get(
      "/repos/:owner/:repo",
      async ({ principal, params, query, request }) => {
        const options = { withBranches: query.branches === "true" };
        const found = await useCases.findRepository(principal, params, options, request.signal);
        const branches = found.branches && { branches: [...found.branches] };
        return { data: { ...repositoryView(found), ...branches } };
      },
      {
        permission: "githost:read",
        params: NamePath,
        query: BranchesFlag,
        ...operation({
          name: "githost.get_repository",
          summary: "Get a repository on the git host",
          answer: one(
            object({
              ...RepositoryView.properties,
              branches: t.Optional(t.Array(BranchView, { description: "All branches, if they were asked for" })),
            }),
          ),
          problems: FAILURES,
        }),
      },
    )
    .delete(
      "/repos/:owner/:repo",
      async ({ principal, params, request }) => {
        await useCases.removeRepository(principal, params, request.signal);
        return { success: true };
      },
      {
        permission: "githost:admin",
        params: NamePath,
        body: EmptyObject,
        ...operation({
          name: "githost.delete_repository",
          summary: "Delete a repository on the git host, with everything in it",
          answer: Done,
          problems: FAILURES,
        }),
      },
    );
}

function contentRoutes(access: Access, useCases: GitHostUseCases) {
  return new Elysia({ name: "http/githost/contents", prefix: "/repos/:owner/:repo" })
    .use(access)
    .get(
      "/branches",
      ({ principal, params, query, request: { signal } }) =>
        listResponse(
          query,
          (page) => useCases.listBranches(principal, params, { ...page, search: query.search }, signal),
          branchText,
        ),
      {
        permission: "githost:list",
        params: NamePath,
        query: SearchQuery,
        ...operation({
          name: "githost.list_branches",
          summary: "List the branches of a repository",
          answer: many(BranchView),
          problems: FAILURES,
        }),
      },
    )
    .get(
      "/clone-token",
      async ({ principal, params, request }) =>
        cloneView(await useCases.mintCloneToken(principal, params, request.signal)),
      {
        permission: "githost:read",
        params: NamePath,
        ...operation({
          name: "githost.clone_token",
          summary: "Make a token that can clone one repository, for less than an hour; needs the app",
          answer: object({
            token: t.String({ description: "The token; never shown again" }),
            cloneUrl: t.String({ description: "Address to clone from" }),
            command: t.String({ description: "Command that clones with the token" }),
          }),
          problems: [409, ...FAILURES],
        }),
      },
    );
}

function fileRoutes(access: Access, useCases: GitHostUseCases) {
  return new Elysia({ name: "http/githost/files", prefix: "/repos/:owner/:repo" })
    .use(access)
    .get(
      "/files",
      ({ principal, params, query, request: { signal } }) => {
        const { path = "", branch, search } = query;
        const at = { path, branch, search };
        return listResponse(
          query,
          (page) => useCases.listFiles(principal, params, { ...at, ...page }, signal),
          fileText,
        );
      },
      {
        permission: "githost:list",
        params: NamePath,
        query: FilesQuery,
        ...operation({
          name: "githost.list_files",
          summary: "List a folder of a repository",
          answer: many(FileEntryView),
          problems: FAILURES,
        }),
      },
    )
    .get(
      "/file",
      async ({ principal, params, query: { file: path = "package.json", branch }, request }) => ({
        data: await useCases.readRepositoryFile(principal, params, { path, branch }, request.signal),
      }),
      {
        permission: "githost:read",
        params: NamePath,
        query: FileQuery,
        ...operation({
          name: "githost.read_file",
          summary: "Read a file of a repository; .json files are parsed",
          answer: one(FileView),
          problems: [413, ...FAILURES],
        }),
      },
    );
}

/** Hands the token to git for this command alone: it is not stored in the clone's configuration. */
function cloneView({ token, cloneUrl }: CloneToken) {
  const value = token.reveal();
  const header = Buffer.from(`x-access-token:${value}`).toString("base64");
  return {
    token: value,
    cloneUrl,
    command: `git -c http.extraHeader="Authorization: Basic ${header}" clone ${cloneUrl}`,
  };
}
