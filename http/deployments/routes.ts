import { Elysia, t } from "elysia";
import type { CloudListing } from "../../application/cloud/list_cloud_deployments.ts";
import type { CloudUseCases } from "../../application/cloud/use_cases.ts";
import type { ShownDeployment } from "../../application/deployments/view_deployment.ts";
import type { DeploymentUseCases } from "../../application/deployments/use_cases.ts";
import type { ProjectUseCases } from "../../application/projects/use_cases.ts";
import type { PrepareRequest } from "../../application/deployments/prepare_source.ts";
import { invalidField } from "../../domain/failure.ts";
import type { Listing, Page } from "../../domain/page.ts";
import type { Access } from "../access.ts";
import { detectionView } from "../projects/detection_view.ts";
import { DetectionView } from "../projects/upload_schemas.ts";
import { operation } from "../operation.ts";
import {
  done,
  EmptyObject,
  IdPath,
  listResponse,
  many,
  nullable,
  object,
  one,
  oneResponse,
  viewText,
} from "../schema.ts";
import { BuildAccessBody, DeployBody, deploymentView, ListQuery, PrepareBody } from "./schemas.ts";
import { DeploymentView } from "./view_schemas.ts";

type UseCases = DeploymentUseCases &
  Pick<ProjectUseCases, "refuseLocalSource"> &
  Pick<CloudUseCases, "deployToCloud" | "listCloudDeployments">;

export const DeploymentResponse = done({
  deployment_id: t.String({ description: "ID of the new deployment", examples: ["dep_01m7edka8326kz9mv55sbbg868"] }),
  project_id: t.String({ description: "ID of the project" }),
});
export const MessageResponse = done({ message: t.String({ description: "Human-readable result" }) });

const Created = t.Object(
  { deployment_id: t.String({ description: "ID of the deployment" }), deployment: DeploymentView },
  { description: "The new deployment" },
);

const MERGED =
  "Deployments of cloud projects are listed with the others. If the cloud cannot be asked, they are missing, and `cloud` says why.";

const CloudPart = object(
  {
    complete: t.Boolean({ description: "Whether the deployments of cloud projects are in the list" }),
    error: nullable(t.String({ description: "Why they are missing" })),
  },
  { description: "Only if there are cloud projects" },
);

const deploymentText = viewText(deploymentView);

/** Routes that create, list, read and delete deployments. */
export function deploymentRoutes(access: Access, useCases: UseCases) {
  return new Elysia({ prefix: "/api/deployments", tags: ["Deployments"] })
    .use(access)
    .use(listing(access, useCases))
    .get(
      "/:id",
      async ({ principal, params }) => oneResponse(await useCases.viewDeployment(principal, params.id), deploymentText),
      {
        permission: "deployment:read",
        params: IdPath,
        ...operation({
          name: "deployment.get",
          summary: "Get a deployment",
          answer: one(DeploymentView),
          problems: [404],
        }),
      },
    )
    .use(making(access, useCases))
    .use(preparing(access, useCases))
    .delete(
      "/:id",
      async ({ principal, params }) => {
        await useCases.removeDeployment(principal, params.id);
        return { success: true, message: "The deployment is deleted" };
      },
      {
        permission: "deployment:admin",
        params: IdPath,
        body: EmptyObject,
        ...operation({
          name: "deployment.remove",
          summary: "Delete a deployment; a live one is stopped",
          description:
            "Responds once nothing of the deployment runs any more and no server routes traffic to it. After 50 seconds it responds with 503 and the code `removal_takes_long`: the deployment is deleted by then, and the rest is stopped in the background.",
          answer: MessageResponse,
          problems: [404],
        }),
      },
    );
}

function listing(access: Access, useCases: UseCases) {
  return new Elysia({ name: "http/deployments/listing" }).use(access).get(
    "",
    async ({ principal, query, request }) => {
      const selection = selectionOf(query);
      const count = Number(query.page) * Number(query.perPage);
      const inCloud = await useCases.listCloudDeployments(principal, selection, { count, signal: request.signal });
      const list = (page: Page) => useCases.viewDeployments(principal, selection, page);
      if (!inCloud) return listResponse(query, list, deploymentText, '"success":true,');
      return mergedList(await list({ page: 1, perPage: count }), inCloud, query);
    },
    {
      permission: "deployment:list",
      query: ListQuery,
      ...operation({
        name: "deployment.list",
        summary: "List deployments, newest first",
        description: MERGED,
        answer: done({ ...many(DeploymentView).properties, cloud: t.Optional(CloudPart) }),
      }),
    },
  );
}

/** Merges the deployments here with those in the cloud, newest first. */
function mergedList(
  here: Listing<ShownDeployment>,
  { items, total, missing }: CloudListing,
  query: typeof ListQuery.static,
) {
  const [page, perPage] = [Number(query.page), Number(query.perPage)];
  const all = [...here.items.map(deploymentView), ...items].toSorted(
    (a, b) => compare(b.createdAt, a.createdAt) || compare(b.id, a.id),
  );
  return Response.json({
    success: true,
    data: all.slice((page - 1) * perPage, page * perPage),
    total: here.total + total,
    page,
    perPage,
    cloud: { complete: missing === null, error: missing },
  });
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function selectionOf({ projectId, status, environment, branch }: typeof ListQuery.static) {
  return {
    ...(projectId !== undefined && { projectId }),
    ...(status !== undefined && { status }),
    ...(environment !== undefined && { environment }),
    ...(branch !== undefined && { branch }),
  };
}

function making(access: Access, useCases: UseCases) {
  return new Elysia({ name: "http/deployments/making" })
    .use(access)
    .post(
      "",
      async ({ principal, body, set }) => {
        set.status = 202;
        const inCloud = await useCases.deployToCloud(principal, body, "/api/deployments");
        if (inCloud) return Response.json(inCloud, { status: 202 });
        const deployment = await useCases.deployProject(principal, body);
        return {
          success: true,
          data: { deployment_id: deployment.id, deployment: deploymentView(await useCases.showDeployment(deployment)) },
        };
      },
      {
        permission: "deployment:write",
        body: DeployBody,
        ...operation({
          name: "deployment.create",
          summary: "Deploy a linked project from its source",
          status: 202,
          answer: done({ data: Created }),
          problems: [404, 409, 502],
        }),
      },
    )
    .post(
      "/build/access",
      async ({ principal, body }) => {
        const inCloud = await useCases.deployToCloud(principal, body, "/api/deployments/build/access");
        if (inCloud) return Response.json(inCloud);
        const { id, projectId } = await useCases.deployProject(principal, body);
        return { success: true, deployment_id: id, project_id: projectId };
      },
      {
        permission: "deployment:write",
        body: BuildAccessBody,
        ...operation({
          name: "deployment.build_access",
          summary: "Deploy an uploaded folder, a linked project or the given services, and start the build",
          answer: DeploymentResponse,
          problems: [404, 409, 502],
        }),
      },
    );
}

function preparing(access: Access, useCases: UseCases) {
  return new Elysia({ name: "http/deployments/preparing" }).use(access).post(
    "/prepare",
    async ({ principal, body, request }) => ({
      data: detectionView(await useCases.prepareSource(principal, prepareRequest(body), request.signal)),
    }),
    {
      permission: "deployment:write",
      body: PrepareBody,
      ...operation({
        name: "deployment.prepare",
        summary: "Detect the type of a repository or folder and how to build it; creates nothing",
        answer: one(DetectionView),
        problems: [502],
        precheck: ({ source }) => {
          if (source === "local") useCases.refuseLocalSource();
        },
        unaudited: true,
      }),
    },
  );
}

function prepareRequest(body: typeof PrepareBody.static): PrepareRequest {
  const { source, gitUrl, owner, repo, branch, path } = body;
  if (gitUrl !== undefined) {
    const isAlone = [source, owner, repo, path].every((field) => field === undefined);
    if (!isAlone) throw invalidField("gitUrl", "give gitUrl alone, with a branch if you like, or source without it");
    return { source: "git", gitUrl, branch };
  }
  if (source === undefined) throw invalidField("source", "must be one of githost, local; or give gitUrl instead");
  if (source === "local") {
    if (path === undefined) throw invalidField("path", "give the folder's path");
    return { source, path };
  }
  if (owner === undefined) throw invalidField("owner", "give the repository's owner");
  if (repo === undefined) throw invalidField("repo", "give the repository's name");
  return { source, owner, repo, branch };
}
