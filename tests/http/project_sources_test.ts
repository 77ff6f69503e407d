import { describe, expect, test } from "bun:test";
import { MemoryHostFolders } from "../../adapters/memory/host_folders.ts";
import { memoryApp } from "../support/apps/app.ts";

const openApp = () => memoryApp({}, () => ({ hostFolders: new MemoryHostFolders(["/srv/harbour"]) }));

test("a project has one source: PATCH and ensure replace it", async () => {
  const { call, owner: token } = await openApp();
  const link = { gitOwner: "acme", gitRepo: "harbour" };
  const { id } = (await call("POST", "/api/projects", { token, body: { name: "Harbour", ...link } })).body.data;
  const patch = async (body: object) => (await call("PATCH", `/api/projects/${id}`, { token, body })).body.data;
  const none = { gitOwner: null, gitRepo: null, gitUrl: null, localPath: null };

  const gitUrl = "https://git.example.com/harbour.git";
  expect(await patch({ gitUrl })).toMatchObject({ ...none, source: "git", gitUrl });
  expect(await patch(link)).toMatchObject({ ...none, ...link, source: "githost" });
  const localPath = "/srv/harbour";
  expect(await patch({ localPath })).toMatchObject({ ...none, source: "local", localPath });
  await call("POST", "/api/projects/ensure", { token, body: { name: "Harbour", gitUrl } });
  const { data } = (await call("GET", `/api/projects/${id}`, { token })).body;
  expect(data).toMatchObject({ ...none, source: "git", gitUrl });

  await call("POST", `/api/projects/${id}/git/link`, { token, body: { owner: "acme", repo: "harbour" } });
  expect(await patch({ gitOwner: null, gitRepo: null })).toMatchObject({
    ...none,
    source: "upload",
  });
});

describe("gitUrl and localPath", () => {
  const together = {
    name: "Harbour",
    gitUrl: "https://git.example.com/harbour.git",
    localPath: "/srv/harbour",
  };
  const sentence = 'Cannot accept "localPath": a project has one source, and "gitUrl" is given too. Give one of them';

  test.each(["/api/projects", "/api/projects/ensure"])("POST %s refuses them together", async (path) => {
    const { call, owner: token } = await openApp();
    const refused = await call("POST", path, { token, body: together });
    expect([refused.status, refused.body.error]).toEqual([400, sentence]);
    expect((await call("GET", "/api/projects", { token })).body.total).toBe(0);
  });

  test("PATCH refuses them together and changes nothing", async () => {
    const { call, owner: token } = await openApp();
    const { name, gitUrl, localPath } = together;
    const { id } = (await call("POST", "/api/projects", { token, body: { name, gitUrl } })).body.data;
    const refused = await call("PATCH", `/api/projects/${id}`, { token, body: { gitUrl, localPath } });
    expect([refused.status, refused.body.error]).toEqual([400, sentence]);
    expect((await call("GET", `/api/projects/${id}`, { token })).body.data).toMatchObject({ gitUrl, localPath: null });
  });
});
