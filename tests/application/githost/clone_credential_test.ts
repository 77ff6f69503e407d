import { describe, expect, test } from "bun:test";
import { projectCredential } from "../../../application/githost/clone_credential.ts";
import { APP, connectAccount, gitHostApp, installApp, OAUTH } from "../../support/apps/git_host_app.ts";

const NEVER = new AbortController().signal;

async function linked(owner: string, repo: string) {
  const app = await gitHostApp({ githostApp: APP, githostOAuth: OAUTH });
  app.host.addRepository({ owner: "ada", name: "private" });
  await installApp(app, "acme", { repositories: ["shop"] });
  await connectAccount(app, "ada");
  const body = { name: "Linked", gitOwner: owner, gitRepo: repo };
  const { id, organizationId } = (await app.call("POST", "/api/projects", { token: app.owner, body })).body.data;
  const project = (await app.world.projects.find(organizationId, id))!;
  const credential = projectCredential({ ...app.world, githostUrl: "https://git.example.com", mode: "self-hosted" });
  return { app, project, of: (url: string) => credential(project, `https://git.example.com/${url}`, NEVER) };
}

describe("projectCredential()", () => {
  test("is a token for one repository where the app is installed", async () => {
    const { app, of } = await linked("acme", "shop");
    const token = (await of("acme/shop.git"))!.reveal();
    expect(app.host.cloneTokens.get(token)).toEqual({ owner: "acme", repo: "shop" });
  });

  test("is the token of a member's account where only that sees the repository", async () => {
    for (const [owner, repo] of [
      ["acme", "secret"],
      ["ada", "private"],
    ] as const) {
      const { app, of } = await linked(owner, repo);
      expect(app.host.tokens.get((await of(`${owner}/${repo}.git`))!.reveal())?.login).toBe("ada");
    }
  });

  test("is none for repositories of other accounts and hosts", async () => {
    const { of } = await linked("acme", "shop");
    for (const url of ["ada/private.git", "acme/shop/more.git", "acme.git", "../acme/shop.git"]) {
      expect([url, await of(url)]).toEqual([url, undefined]);
    }
  });

  test("is none for a repository that nobody who sees it has linked", async () => {
    const { app, project, of } = await linked("acme", "shop");
    await app.world.projects.change(project.organizationId, project.id, {
      change: () => ({ settings: { gitOwner: "acme", gitRepo: "shop" } }),
      at: new Date(),
    });
    const changed = (await app.world.projects.find(project.organizationId, project.id))!;
    expect(changed.settings.gitAccess).toBeUndefined();
    const credential = projectCredential({ ...app.world, githostUrl: "https://git.example.com", mode: "self-hosted" });
    expect(await credential(changed, "https://git.example.com/acme/shop.git", NEVER)).toBeUndefined();
    expect(await of("acme/shop.git")).toBeDefined();
  });
});
