import { Elysia, t } from "elysia";
import type { ProjectUseCases } from "../../application/projects/use_cases.ts";
import type { Access } from "../access.ts";
import { operation } from "../operation.ts";
import { about, Done, EmptyObject, IdPath, object, one, Time } from "../schema.ts";

const HostKeyView = object(
  {
    host: t.String({
      description: "SSH server, with its port unless that is 22",
      examples: ["git.example.com", "git.example.com:2222"],
    }),
    fingerprint: t.String({
      description: "Fingerprint of the key that the server must present",
      examples: ["SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU"],
    }),
    pinnedAt: about("Time of the first connection, at which the key was pinned", Time),
  },
  { title: "PinnedHostKey" },
);

const DeployKeyView = object(
  {
    publicKey: t.String({
      description: "Public key, to be added at the git server as a deploy key with read access",
      examples: ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ1S2AMIqjJLSlFR2OA8fDEkzyS6MmmKIiGRkYg9iIZv slipway-harbour"],
    }),
    fingerprint: t.String({
      description: "Fingerprint of the public key",
      examples: ["SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU"],
    }),
    createdAt: about("Time when the key was made", Time),
    hostKeys: t.Array(HostKeyView, { description: "Host keys pinned by fetches of this project, sorted by host" }),
  },
  { title: "DeployKey" },
);

const DeployKeyBody = object({
  replace: t.Optional(
    t.Boolean({
      description: "Whether to replace an existing key, which is lost then. Defaults to false",
      examples: [false],
    }),
  ),
});

const HostPath = object({
  id: t.String({ description: "ID of the resource" }),
  host: t.String({ description: "SSH server as the deploy key lists it", examples: ["git.example.com"] }),
});

/** Routes of a project's deploy key, which repositories are cloned with over SSH. */
export function deployKeyRoutes(access: Access, useCases: ProjectUseCases) {
  return new Elysia({ prefix: "/api/projects", tags: ["Projects"] })
    .use(access)
    .get(
      "/:id/deploy-key",
      async ({ principal, params }) => ({
        data: view(await useCases.findDeployKey(principal, params.id)),
      }),
      {
        permission: "project:read",
        params: IdPath,
        ...operation({
          name: "deploy_key.get",
          summary: "Get the public part of a project's deploy key, and the pinned host keys",
          answer: one(DeployKeyView),
          problems: [404],
        }),
      },
    )
    .post(
      "/:id/deploy-key",
      async ({ principal, params, body, set }) => {
        const key = await useCases.makeDeployKey(principal, params.id, body);
        set.status = 201;
        return { data: view(key) };
      },
      {
        permission: "project:write",
        params: IdPath,
        body: DeployKeyBody,
        ...operation({
          name: "deploy_key.make",
          summary: "Make the deploy key that the project's repository is cloned with over SSH",
          description:
            "Add the public key at the git server, with read access. The private key is never shown. It is offered only to the SSH server of the project's gitUrl. Responds with 409 and the code `deploy_key_exists` when the project has a key and `replace` is not true; a replaced key keeps the pinned host keys.",
          status: 201,
          answer: one(DeployKeyView),
          problems: [404, 409],
        }),
      },
    )
    .use(removing(access, useCases));
}

function removing(access: Access, useCases: ProjectUseCases) {
  return new Elysia({ name: "http/projects/deploy_key_removal" })
    .use(access)
    .delete(
      "/:id/deploy-key",
      async ({ principal, params }) => {
        await useCases.removeDeployKey(principal, params.id);
        return { success: true };
      },
      {
        permission: "project:admin",
        params: IdPath,
        body: EmptyObject,
        ...operation({
          name: "deploy_key.remove",
          summary: "Delete the deploy key of a project with the pinned host keys",
          answer: Done,
          problems: [404],
        }),
      },
    )
    .delete(
      "/:id/deploy-key/host-keys/:host",
      async ({ principal, params }) => {
        await useCases.forgetHostKey(principal, params.id, params.host);
        return { success: true };
      },
      {
        permission: "project:admin",
        params: HostPath,
        body: EmptyObject,
        ...operation({
          name: "deploy_key.forget_host_key",
          summary: "Forget the pinned key of an SSH server; the next fetch pins the one that it presents then",
          answer: Done,
          problems: [404],
        }),
      },
    );
}

type ShownKey = Awaited<ReturnType<ProjectUseCases["findDeployKey"]>>;

function view({ publicKey, fingerprint, createdAt, hostKeys }: ShownKey) {
  return {
    publicKey,
    fingerprint,
    createdAt: createdAt.toISOString(),
    hostKeys: hostKeys.map(({ host, fingerprint: pinned, pinnedAt }) => ({
      host,
      fingerprint: pinned,
      pinnedAt: pinnedAt.toISOString(),
    })),
  };
}
