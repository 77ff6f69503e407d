import { expect, test } from "bun:test";
import { TestProject } from "../support/apps/deploying.ts";
import { eventually } from "../support/eventually.ts";
import { pullRequestPayload } from "../support/inputs/webhook_payloads.ts";
import { EmulatedGitHost } from "../support/peers/emulated_git_host.ts";
import { dockerServer } from "../support/servers/docker_server.ts";

const SHOP = { owner: "ada", repo: "shop" };

const SERVER = `
use strict; use IO::Socket::INET;
my $server = IO::Socket::INET->new(LocalPort => 3000, Listen => 128, ReuseAddr => 1) or die "Cannot listen: $!";
while (my $visitor = $server->accept) {
  while (my $line = <$visitor>) { last if $line =~ /^\\r?\\n$/ }
  print $visitor "HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\nConnection: close\\r\\n\\r\\nhi";
  close $visitor;
}
`;

/** A project of one service that mounts something. */
function shop(mount: string) {
  const compose = { services: { web: { build: ".", ports: ["3000"], volumes: [mount] } }, volumes: { data: {} } };
  return {
    "compose.yaml": JSON.stringify(compose),
    Dockerfile: 'FROM debian:bookworm-slim\nCOPY server.pl /\nEXPOSE 3000\nCMD ["perl", "/server.pl"]\n',
    "server.pl": SERVER,
  };
}

test("the preview of a pull request leaves no container, volume or network once it is closed, and mounts no host folder", async () => {
  await using host = await EmulatedGitHost.start();
  host.addAccount("ada");
  const branches = { main: shop("data:/data"), feature: shop("data:/data"), greedy: shop("/srv/shared:/shared") };
  host.addRepository({ owner: "ada", name: "shop", branches });
  await host.makeReal("ada", "shop");
  await using server = await dockerServer({
    GITHOST_WEB_URL: host.origin,
    GITHOST_TOKEN: host.issueToken("ada").reveal(),
  });
  const { installation, slipway } = server;
  const linked = { name: "Shop", gitOwner: "ada", gitRepo: "shop", hostPaths: ["/srv/shared"] };
  const project = await TestProject.create(slipway, linked);
  const on = await project.call("POST", `/api/projects/${project.id}/previews`, { body: { enabled: true } });
  expect(on.status).toBe(200);
  const [hook] = host.repositories.get("ada/shop")!.hooks.values();

  const report = async (action: string, about: { number: number; headSha: string; headRef: string }) => {
    const payload = pullRequestPayload("ada/shop", { action, updatedAt: new Date(), ...about });
    const to = { url: `${slipway.address}/api/githost/webhook`, secret: hook!.settings.secret.reveal() };
    const answer = await host.deliver(to, "pull_request", payload);
    expect([answer.status, await answer.json()]).toMatchObject([200, { success: true }]);
    const { body } = await project.call("GET", `/api/deployments?projectId=${project.id}`);
    return body.data[0].id as string;
  };
  const filter = ["--filter", `label=slipway.installation=${installation}`];
  const left = async () => ({
    containers: (await server.docker("ps", "--all", "--quiet", ...filter)).length,
    volumes: (await server.docker("volume", "ls", "--quiet", ...filter)).length,
    networks: (await server.docker("network", "ls", "--quiet", ...filter)).length,
  });

  const opened = await host.openPullRequest(SHOP, { branch: "feature" });
  const about = { number: opened.number, headSha: opened.heads.at(-1)!, headRef: "feature" };
  const id = await report("opened", about);
  await project.deployed(id);
  const { url } = await project.get(id);
  expect(await (await slipway.visit(new URL(url).hostname)).text()).toBe("hi");
  expect(await left()).toEqual({ containers: 1, volumes: 1, networks: 1 });
  await report("closed", about);
  const nothing = { containers: 0, volumes: 0, networks: 0 };
  expect(await eventually(left, (found) => Bun.deepEquals(found, nothing))).toEqual(nothing);
  expect((await slipway.visit(new URL(url).hostname)).status).toBe(404);

  const greedy = await host.openPullRequest(SHOP, { branch: "greedy" });
  const refused = await project.settled(
    await report("opened", { number: greedy.number, headSha: greedy.heads.at(-1)!, headRef: "greedy" }),
  );
  expect(refused).toMatchObject({ status: "failed", error: { code: "host_access_forbidden" } });
  expect(refused.error.message).toContain("previews of pull requests use volumes of their own only");
});
