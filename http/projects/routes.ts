import { Elysia, t } from "elysia";
import type { CloudUseCases } from "../../application/cloud/use_cases.ts";
import type { ProjectUseCases } from "../../application/projects/use_cases.ts";
import type { ServiceUseCases } from "../../application/services/use_cases.ts";
import type { Access } from "../access.ts";
import { operation } from "../operation.ts";
import {
  Done,
  done,
  flag,
  IdPath,
  listResponse,
  many,
  EmptyObject,
  object,
  one,
  oneResponse,
  PageFields,
  parameters,
  text,
  viewText,
} from "../schema.ts";
import {
  AutoDeployBody,
  PreviewsBody,
  EnsureBody,
  LinkBody,
  ProjectBody,
  ProjectPatch,
  ProjectView,
  projectView,
  VolumeView,
} from "./schemas.ts";

type UseCases = ProjectUseCases & Pick<ServiceUseCases, "listVolumes"> & Pick<CloudUseCases, "removeFromCloud">;

const ProjectQuery = parameters({
  ...PageFields,
  search: t.Optional(text(100, { description: "Only projects whose name or slug contains this text" })),
});

const RemovalQuery = parameters({
  volumes: t.Optional(flag("Whether to delete the volumes of the project and of its previews too")),
});

const projectText = viewText(projectView);

/** Routes of projects. */
export function projectRoutes(access: Access, useCases: UseCases) {
  return new Elysia({ prefix: "/api/projects", tags: ["Projects"] })
    .use(access)
    .get(
      "",
      ({ principal, query }) =>
        listResponse(query, (page) => useCases.listProjects(principal, query.search, page), projectText),
      {
        permission: "project:list",
        query: ProjectQuery,
        ...operation({ name: "project.list", summary: "List projects, newest first", answer: many(ProjectView) }),
      },
    )
    .get(
      "/:id",
      async ({ principal, params }) =>
        oneResponse(await useCases.findProject(principal, params.id, "project:read"), projectText),
      {
        permission: "project:read",
        params: IdPath,
        ...operation({ name: "project.get", summary: "Get a project", answer: one(ProjectView), problems: [404] }),
      },
    )
    .get(
      "/:id/volumes",
      async ({ principal, params }) => ({ data: [...(await useCases.listVolumes(principal, params.id))] }),
      {
        permission: "project:read",
        params: IdPath,
        ...operation({
          name: "project.volumes",
          summary: "List the volumes of a project and of its previews, with sizes",
          description:
            "Lists only volumes that Slipway created for the project, not volumes that already existed. A project that runs as processes has none.",
          answer: object({ data: t.Array(VolumeView, { description: "All volumes, those of the project first" }) }),
          problems: [404],
        }),
      },
    )
    .use(makingProjects(access, useCases))
    .use(changingProjects(access, useCases))
    .use(linkingProjects(access, useCases))
    .use(triggeringProjects(access, useCases));
}

function makingProjects(access: Access, useCases: UseCases) {
  return new Elysia({ name: "http/projects/making" })
    .use(access)
    .post(
      "",
      async ({ principal, body: { name, slug, ...settings }, set }) => {
        const project = await useCases.createProject(principal, { name, slug, settings });
        set.status = 201;
        return { data: projectView(project) };
      },
      {
        permission: "project:write",
        body: ProjectBody,
        ...operation({
          name: "project.create",
          summary: "Create a project",
          status: 201,
          answer: one(ProjectView),
          problems: [409, 502],
        }),
      },
    )
    .post(
      "/ensure",
      async ({ principal, body: { name, slug, projectId, ...settings } }) => {
        const { project, created } = await useCases.ensureProject(principal, { name, slug, projectId, settings });
        return { success: true, project_id: project.id, created };
      },
      {
        permission: "project:write",
        body: EnsureBody,
        ...operation({
          name: "project.ensure",
          summary: "Create a project, or update the one with this ID, else with this slug",
          answer: done({
            project_id: t.String({ description: "ID of the project", examples: ["prj_01m7edka8326kz9mv55sbbg868"] }),
            created: t.Boolean({ description: "Whether the project was created rather than updated" }),
          }),
          problems: [404, 409, 502],
        }),
      },
    );
}

function changingProjects(access: Access, useCases: UseCases) {
  return new Elysia({ name: "http/projects/changing" })
    .use(access)
    .patch(
      "/:id",
      async ({ principal, params, body: { name, slug, ...settings } }) => ({
        data: projectView(await useCases.changeProject(principal, params.id, { name, slug, settings })),
      }),
      {
        permission: "project:write",
        params: IdPath,
        body: ProjectPatch,
        ...operation({
          name: "project.change",
          summary: "Update fields of a project; null resets a setting to its default",
          answer: one(ProjectView),
          problems: [404, 409, 502],
        }),
      },
    )
    .delete(
      "/:id",
      async ({ principal, params, query, request }) => {
        const volumes = query.volumes === "true";
        await useCases.removeFromCloud(principal, params.id, { volumes, signal: request.signal });
        await useCases.removeProject(principal, params.id, { volumes });
        return { success: true };
      },
      {
        permission: "project:admin",
        params: IdPath,
        query: RemovalQuery,
        body: EmptyObject,
        ...operation({
          name: "project.remove",
          summary: "Delete a project with its variables, host names and deployments, and optionally its volumes",
          description:
            "Cancels running deployments, stops all services, and responds once no server routes traffic to the project any more. After 50 seconds it responds with 503 and the code `removal_takes_long`, while the removal continues. Volumes stay by default. `volumes=true` deletes them with all their data, except for volumes that existed before. While Docker does not respond, the response is 503 and nothing is removed. If the project is deleted but a volume is still used by something else, the response is 409 with the code `volumes_left`. A cloud project is deleted in the cloud first.",
          answer: Done,
          problems: [404, 502],
        }),
      },
    );
}

function linkingProjects(access: Access, useCases: UseCases) {
  return new Elysia({ name: "http/projects/linking" }).use(access).post(
    "/:id/git/link",
    async ({ principal, params, body: { owner, repo, branch } }) => {
      const settings = { gitOwner: owner, gitRepo: repo, gitBranch: branch ?? null };
      return {
        success: true,
        project: projectView(await useCases.changeProject(principal, params.id, { settings })),
      };
    },
    {
      permission: "project:write",
      params: IdPath,
      body: LinkBody,
      ...operation({
        name: "project.link",
        summary: "Link a project to a repository on the git host; replaces any other source",
        answer: done({ project: ProjectView }),
        problems: [404, 502],
      }),
    },
  );
}

/** Routes that turn what the git host triggers on and off. */
function triggeringProjects(access: Access, useCases: UseCases) {
  return new Elysia({ name: "http/projects/triggering" })
    .use(access)
    .post(
      "/:id/auto-deploy",
      async ({ principal, params, body: { enabled }, request }) => ({
        success: true,
        project: projectView(await useCases.switchAutoDeploy(principal, params.id, enabled, request.signal)),
      }),
      {
        permission: "project:write",
        params: IdPath,
        body: AutoDeployBody,
        ...operation({
          name: "project.auto_deploy",
          summary:
            "Deploy on every push to the linked repository, or stop that; registers a webhook where none reports pushes",
          answer: done({ project: ProjectView }),
          problems: [404, 502],
        }),
      },
    )
    .post(
      "/:id/previews",
      async ({ principal, params, body, request }) => ({
        success: true,
        project: projectView(await useCases.switchPreviews(principal, params.id, body, request.signal)),
      }),
      {
        permission: "project:write",
        params: IdPath,
        body: PreviewsBody,
        ...operation({
          name: "project.previews",
          summary:
            "Deploy a preview of every pull request of the linked repository, or stop that; registers a webhook where none reports them",
          answer: done({ project: ProjectView }),
          problems: [404, 502],
        }),
      },
    );
}
