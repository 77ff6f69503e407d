import { describe, expect, test } from "bun:test";
import type { FetchTarget } from "../../../ports/projects/sources.ts";
import { APP, commit, EngineScene } from "../../support/apps/engine_scene.ts";

const SHOP = "ssh://git@git.example.com:2222/acme/shop.git";
const ELSEWHERE = "git@other.example.com:acme/shop.git";
const HOST = "git.example.com:2222";
const FIRST = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5";
const SECOND = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA";

/** A scene with an SSH server at two hosts, that notes the options of every fetch. */
async function sshScene() {
  const fetches: FetchTarget[] = [];
  const scene = await EngineScene.open({
    replace: ({ sources }) => ({
      sources: {
        fetch(source, into) {
          fetches.push(into);
          return sources.fetch(source, into);
        },
      },
    }),
  });
  const serve = (hostKey: string, authorizedKey: string) => {
    const repository = { commits: [commit("a1", APP)], ssh: { hostKey, authorizedKey } };
    Object.assign(scene.known.git, { [SHOP]: repository, [ELSEWHERE]: repository });
  };
  serve(FIRST, "nobody's");
  return { scene, fetches, serve };
}

describe("a project with a deploy key", () => {
  test("is cloned with it, and pins the host key of its server", async () => {
    const { scene, fetches, serve } = await sshScene();
    await using _ = scene;
    const project = await scene.project({ gitUrl: SHOP });
    const { publicKey } = await scene.useCases.makeDeployKey(scene.by, project.id);
    serve(FIRST, publicKey);
    expect((await scene.deployed(project)).status).toBe("ready");
    const { hostKeys } = await scene.useCases.findDeployKey(scene.by, project.id);
    expect(hostKeys).toMatchObject([{ host: HOST, key: FIRST, pinnedAt: scene.memory.clock.now() }]);
    expect((await scene.deployed(project)).status).toBe("ready");
    expect(fetches.map(({ ssh }) => ssh?.login?.hostKeys.length)).toEqual([0, 1]);
  });

  test("fails with what to do while the server does not know the key, or there is none", async () => {
    const { scene } = await sshScene();
    await using _ = scene;
    const project = await scene.project({ gitUrl: SHOP });
    const none = await scene.deployed(project);
    expect(none.error).toMatchObject({ step: "fetch", code: "git_auth_failed" });
    expect(none.error?.message).toContain(`POST /api/projects/${project.id}/deploy-key`);
    const { publicKey } = await scene.useCases.makeDeployKey(scene.by, project.id);
    const unknown = await scene.deployed(project);
    expect(unknown.error).toMatchObject({ code: "git_auth_failed", message: expect.stringContaining(publicKey) });
  });

  test("refuses a changed host key until the pinned one is forgotten", async () => {
    const { scene, serve } = await sshScene();
    await using _ = scene;
    const project = await scene.project({ gitUrl: SHOP });
    const { publicKey } = await scene.useCases.makeDeployKey(scene.by, project.id);
    serve(FIRST, publicKey);
    await scene.deployed(project);
    serve(SECOND, publicKey);
    expect((await scene.deployed(project)).error?.code).toBe("git_host_key_changed");
    await scene.useCases.forgetHostKey(scene.by, project.id, HOST);
    expect((await scene.deployed(project)).status).toBe("ready");
    expect((await scene.useCases.findDeployKey(scene.by, project.id)).hostKeys).toMatchObject([{ key: SECOND }]);
  });

  test("does not use it for the server of a former gitUrl", async () => {
    const { scene, fetches, serve } = await sshScene();
    await using _ = scene;
    const project = await scene.project({ gitUrl: SHOP });
    const { publicKey } = await scene.useCases.makeDeployKey(scene.by, project.id);
    serve(FIRST, publicKey);
    const first = await scene.deployed(project);
    await scene.useCases.changeProject(scene.by, project.id, { settings: { gitUrl: ELSEWHERE } });
    const again = await scene.useCases.redeploy(scene.by, first.id, { useExistingCommit: true });
    expect((await scene.settled(again.id)).error?.code).toBe("git_auth_failed");
    expect(fetches.at(-1)?.ssh).toEqual({ deployKeyPath: `/api/projects/${project.id}/deploy-key` });
    expect((await scene.deployed(project)).status).toBe("ready");
    expect(fetches.at(-1)?.ssh?.login?.publicKey).toBe(publicKey);
  });

  test("is not given a key over HTTPS, and no project's key is used for another one", async () => {
    const { scene, fetches, serve } = await sshScene();
    await using _ = scene;
    const [plain, other] = [await scene.project(), await scene.project({ gitUrl: SHOP })];
    const { publicKey } = await scene.useCases.makeDeployKey(scene.by, plain.id);
    serve(FIRST, publicKey);
    expect((await scene.deployed(plain)).status).toBe("ready");
    expect(fetches.at(-1)?.ssh).toBeUndefined();
    expect((await scene.deployed(other)).error?.code).toBe("git_auth_failed");
  });
});
