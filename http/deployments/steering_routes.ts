import { Elysia, t } from "elysia";
import type { DeploymentUseCases } from "../../application/deployments/use_cases.ts";
import type { ServiceUseCases } from "../../application/services/use_cases.ts";
import type { Deployment } from "../../domain/deployments/deployment.ts";
import type { Access } from "../access.ts";
import { operation } from "../operation.ts";
import { done, IdPath, EmptyObject, nullable, one } from "../schema.ts";
import { DeploymentResponse, MessageResponse } from "./routes.ts";
import { deploymentView, PinBody, RedeployBody, RespondBody } from "./schemas.ts";
import { DeploymentStatusSchema, DeploymentView } from "./view_schemas.ts";

type UseCases = DeploymentUseCases & ServiceUseCases;

const VARIABLES_CHANGED =
  "with the variables of its deployment. Those changed since are used by the next deployment only: redeploy to use them";

const Status = done({ status: DeploymentStatusSchema });

/** Routes that act on an existing deployment. */
export function steeringRoutes(access: Access, useCases: UseCases) {
  return new Elysia({ prefix: "/api/deployments", tags: ["Deployments"] })
    .use(access)
    .use(again(access, useCases))
    .use(promoting(access, useCases))
    .use(build(access, useCases))
    .use(pinning(access, useCases))
    .use(deciding(access, useCases))
    .use(running(access, useCases));
}

function again(access: Access, useCases: UseCases) {
  return new Elysia({ name: "http/deployments/again" })
    .use(access)
    .post(
      "/:id/redeploy",
      async ({ principal, params, body: { useExistingCommit }, set }) => {
        set.status = 202;
        return made(
          await useCases.redeploy(principal, params.id, useExistingCommit === undefined ? {} : { useExistingCommit }),
        );
      },
      {
        permission: "deployment:write",
        params: IdPath,
        body: RedeployBody,
        ...operation({
          name: "deployment.redeploy",
          summary: "Redeploy: rebuild from the latest commit, or from exactly the commit of this deployment",
          status: 202,
          answer: DeploymentResponse,
          problems: [404],
        }),
      },
    )
    .post(
      "/:id/rollback",
      async ({ principal, params, set }) => {
        set.status = 202;
        return made(await useCases.rollback(principal, params.id));
      },
      {
        permission: "deployment:write",
        params: IdPath,
        body: EmptyObject,
        ...operation({
          name: "deployment.rollback",
          summary: "Roll back to this release: its files, environment and settings as recorded; needs deployment:admin",
          handlerPermission: "deployment:admin",
          status: 202,
          answer: DeploymentResponse,
          problems: [404],
        }),
      },
    );
}

function promoting(access: Access, useCases: UseCases) {
  return new Elysia({ name: "http/deployments/promoting" }).use(access).post(
    "/:id/promote",
    async ({ principal, params, set }) => {
      set.status = 202;
      return made(await useCases.promote(principal, params.id));
    },
    {
      permission: "deployment:admin",
      params: IdPath,
      body: EmptyObject,
      ...operation({
        name: "deployment.promote",
        summary: "Promote a ready preview to production, without a build",
        description:
          "The new deployment uses the production variables and the endpoints that the project has when it starts; what the build made of the variables of previews stays. The preview stays unchanged.",
        status: 202,
        answer: DeploymentResponse,
        problems: [404, 409],
      }),
    },
  );
}

function build(access: Access, useCases: UseCases) {
  return new Elysia({ name: "http/deployments/build" })
    .use(access)
    .post(
      "/:id/build",
      async ({ principal, params, set }) => {
        const { status } = await useCases.startBuild(principal, params.id);
        set.status = 202;
        return { success: true, status };
      },
      {
        permission: "deployment:write",
        params: IdPath,
        body: EmptyObject,
        ...operation({
          name: "deployment.start",
          summary: "Start a held deployment; it runs as soon as its project is free",
          status: 202,
          answer: Status,
          problems: [404],
        }),
      },
    )
    .post(
      "/:id/build/respond",
      async ({ principal, params, body }) => {
        const { status } = await useCases.respondToPrompt(principal, params.id, body);
        return { success: true, status };
      },
      {
        permission: "deployment:write",
        params: IdPath,
        body: RespondBody,
        ...operation({
          name: "deployment.respond",
          summary: "Answer the prompt that a build waits for",
          answer: Status,
          problems: [404],
        }),
      },
    );
}

/**
 * Aborts when the client disconnects. With an idempotency key the client may return for the response, so the request
 * keeps waiting.
 */
function waitOf({ headers, signal }: Request): AbortSignal | undefined {
  return headers.has("idempotency-key") ? undefined : signal;
}

function deciding(access: Access, useCases: UseCases) {
  return new Elysia({ name: "http/deployments/deciding" })
    .use(access)
    .post(
      "/:id/keep",
      async ({ principal, params, request }) => {
        const deployment = await useCases.keepDeployment(principal, params.id, waitOf(request));
        return { success: true, deployment: deploymentView(await useCases.showDeployment(deployment)) };
      },
      {
        permission: "deployment:write",
        params: IdPath,
        body: EmptyObject,
        ...operation({
          name: "deployment.keep",
          summary: "Keep the services that came up in a partial failure; the others stay on their former version",
          answer: done({ deployment: DeploymentView }),
          problems: [404],
        }),
      },
    )
    .post(
      "/:id/reject",
      async ({ principal, params, request }) => {
        const { deployment, restoredDeploymentId } = await useCases.rejectDeployment(
          principal,
          params.id,
          waitOf(request),
        );
        const shown = deploymentView(await useCases.showDeployment(deployment));
        return { success: true, deployment: shown, restoredDeploymentId };
      },
      {
        permission: "deployment:write",
        params: IdPath,
        body: EmptyObject,
        ...operation({
          name: "deployment.reject",
          summary: "Reject a deployment with a partial failure; the changed services go back to their former version",
          answer: done({
            deployment: DeploymentView,
            restoredDeploymentId: nullable(
              t.String({ description: "ID of the deployment that serves again; null if none served before" }),
            ),
          }),
          problems: [404],
        }),
      },
    );
}

function pinning(access: Access, useCases: UseCases) {
  return new Elysia({ name: "http/deployments/pinning" }).use(access).post(
    "/:id/pin",
    async ({ principal, params, body: { pinned = true } }) => {
      const deployment = await useCases.pinDeployment(principal, params.id, pinned);
      return { data: deploymentView(await useCases.showDeployment(deployment)) };
    },
    {
      permission: "deployment:write",
      params: IdPath,
      body: PinBody,
      ...operation({
        name: "deployment.pin",
        summary: "Pin a release, so that its files are not cleaned up, or unpin it",
        answer: one(DeploymentView),
        problems: [404],
      }),
    },
  );
}

function running(access: Access, useCases: UseCases) {
  return new Elysia({ name: "http/deployments/running" })
    .use(access)
    .post(
      "/:id/cancel",
      async ({ principal, params, request }) => {
        await useCases.cancelDeployment(principal, params.id, waitOf(request));
        return { success: true, message: "The deployment is cancelled" };
      },
      {
        permission: "deployment:write",
        params: IdPath,
        body: EmptyObject,
        ...operation({
          name: "deployment.cancel",
          summary: "Cancel a deployment that has not finished; needs deployment:admin",
          handlerPermission: "deployment:admin",
          answer: MessageResponse,
          problems: [404],
        }),
      },
    )
    .post(
      "/:id/restart",
      async ({ principal, params }) => {
        const { restarted, variablesChanged } = await useCases.restartInstances(principal, params.id);
        const message = `Restarted ${restarted === 1 ? "1 service" : `${restarted} services`}`;
        return { success: true, message: variablesChanged ? `${message} ${VARIABLES_CHANGED}` : message };
      },
      {
        permission: "deployment:write",
        params: IdPath,
        body: EmptyObject,
        ...operation({
          name: "deployment.restart",
          summary: "Restart the services of a deployment",
          description:
            "Restarts all services concurrently, with the variables of their deployment; `message` says if the project's variables for their environment have changed since. After 50 seconds it responds with 503 and the code `restart_takes_long`, while the restart continues; a repeated request waits for the same restart.",
          answer: MessageResponse,
          problems: [404],
        }),
      },
    );
}

function made({ id, projectId }: Deployment) {
  return { success: true, deployment_id: id, project_id: projectId };
}
