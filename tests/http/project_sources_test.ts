import { expect, test } from "bun:test";
import { MemoryHostFolders } from "../../adapters/memory/host_folders.ts";
import { memoryApp } from "../support/app.ts";

test("a project has one source: PATCH and ensure replace it", async () => {
  const { call, owner: token } = await memoryApp({}, () => ({ hostFolders: new MemoryHostFolders(["/srv/harbour"]) }));
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
