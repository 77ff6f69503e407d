import { describe, expect, test } from "bun:test";
import { projectCredential } from "../../../application/githost/clone_credential.ts";
import { APP, connectAccount, gitHostApp, installApp, OAUTH } from "../../support/apps/git_host_app.ts";

const NEVER = new AbortController().signal;

function at(path: string): string {
  return `https://git.example.com/${path}`;
}

async function linked(owner: string, repo: string) {
  const app = await gitHostApp({ githostApp: APP, githostOAuth: OAUTH });
  app.host.addRepository({ owner: "ada", name: "private" });
  await installApp(app, "acme", { repositories: ["shop"] });
  await connectAccount(app, "ada");
  const body = { name: "Linked", gitOwner: owner, gitRepo: repo };
  const { id, organizationId } = (await app.call("POST", "/api/projects", { token: app.owner, body })).body.data;
  const project = (await app.world.projects.find(organizationId, id))!;
  const credential = projectCredential({ ...app.world, githostUrl: "https://git.example.com", mode: "self-hosted" });
  const sourceUrl = at(`${owner}/${repo}.git`);
  return { app, project, credential, of: (path: string) => credential(project, { url: at(path), sourceUrl }, NEVER) };
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

  test("is none for a repository that nobody who sees it has linked, nor for a former source", async () => {
    const { project, credential, of } = await linked("acme", "shop");
    const url = "https://git.example.com/acme/shop.git";
    const former = { url, sourceUrl: "https://git.example.com/evil/fork.git" };
    expect(await credential(project, former, NEVER)).toBeUndefined();
    const unchecked = { ...project, settings: { gitOwner: "acme", gitRepo: "shop" } };
    expect(await credential(unchecked, { url, sourceUrl: url }, NEVER)).toBeUndefined();
    expect(await of("acme/shop.git")).toBeDefined();
  });

  test("is for submodules of the same owner where somebody who sees all of it has linked the repository", async () => {
    const { app, project, credential, of } = await linked("acme", "shop");
    expect(app.host.tokens.get((await of("acme/secret.git"))!.reveal())?.login).toBe("ada");
    const { gitSubmodules: _, ...settings } = project.settings;
    const sourceUrl = "https://git.example.com/acme/shop.git";
    const submodule = { url: "https://git.example.com/acme/secret.git", sourceUrl };
    expect(await credential({ ...project, settings }, submodule, NEVER)).toBeUndefined();
  });
});
