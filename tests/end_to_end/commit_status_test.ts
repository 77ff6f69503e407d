import { expect, test } from "bun:test";
import { TestProject } from "../support/apps/deploying.ts";
import { eventually } from "../support/eventually.ts";
import { EmulatedGitHost } from "../support/peers/emulated_git_host.ts";
import { SlipwayProcess } from "../support/servers/slipway_process.ts";

const SITE = { owner: "ada", repo: "site" };

test("a deployment is reported to its commit, also if the server is killed before it could", async () => {
  await using host = await EmulatedGitHost.start();
  host.addAccount("ada");
  host.addRepository({ owner: "ada", name: "site", branches: { main: { "index.html": "<h1>Hi</h1>" } } });
  await host.makeReal("ada", "site");
  const sha = host.tipOf(SITE, "main");
  await using slipway = await SlipwayProcess.start({
    GITHOST_WEB_URL: host.origin,
    GITHOST_TOKEN: host.issueToken("ada").reveal(),
  });
  const project = await TestProject.create(slipway, { name: "Site", gitOwner: "ada", gitRepo: "site" });
  await project.deployed();
  const done = await eventually(
    async () => host.statusesOf(SITE, sha).at(-1),
    (status) => status?.state === "success",
  );
  expect(done).toEqual({
    state: "success",
    description: "Deployed",
    targetUrl: `http://${project.hostname}:${slipway.edgePort}`,
    context: "slipway/site",
  });

  host.intercept = (_request, { pathname }) =>
    pathname.includes("/statuses/") ? Response.json({ message: "Server Error" }, { status: 502 }) : undefined;
  const before = host.statusesOf(SITE, sha).length;
  await project.deployed();
  await slipway.kill();
  expect(host.statusesOf(SITE, sha)).toHaveLength(before);
  host.intercept = undefined;
  await slipway.start();
  const later = await eventually(
    async () => host.statusesOf(SITE, sha).slice(before),
    (statuses) => statuses.length > 0,
  );
  expect(later.map(({ state }) => state)).toEqual(["success"]);
  expect(slipway.program.stderr).not.toContain("was not reported");
});
