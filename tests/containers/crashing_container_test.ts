import { expect, test } from "bun:test";
import { expectBrokenComposeRefused } from "../support/inputs/broken_compose.ts";
import { type Files, SourceFolder, TestProject } from "../support/apps/deploying.ts";
import { dockerServer } from "../support/servers/docker_server.ts";
import { expectShownBack, expectShownDown, shownService } from "../support/servers/shown_outage.ts";
import { Visitor } from "../support/servers/visitor.ts";

const STEADY = { "server.js": 'Bun.serve({ port: process.env.PORT, fetch: () => new Response("v1") });' };

/** Exits on a request to /break, and on every start while the file that this writes is not empty. */
const NEEDY: Files = {
  Dockerfile: ["FROM debian:bookworm-slim", "COPY server.pl /", "EXPOSE 3000", 'CMD ["perl", "/server.pl"]', ""].join(
    "\n",
  ),
  "server.pl": `
use strict; use IO::Socket::INET;
$| = 1;
if (-s '/broken') { print "no database\\n"; exit 1 }
my $server = IO::Socket::INET->new(LocalPort => $ENV{PORT}, Listen => 128, ReuseAddr => 1) or die "Cannot listen: $!";
while (1) {
  my $visitor = $server->accept or next;
  my $request = <$visitor>;
  while (my $line = <$visitor>) { last if $line =~ /^\\r?\\n$/ }
  if ($request =~ m{/break}) { open my $file, '>', '/broken'; print $file 'x'; close $file; exit 1 }
  print $visitor "HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\nConnection: close\\r\\n\\r\\nv1";
  close $visitor;
}
`,
};

test("a container stays live when a compose file cannot be read; one in a crash loop is reported and recovers by itself", async () => {
  await using server = await dockerServer();
  const { slipway } = server;
  await using steadySource = await SourceFolder.of(STEADY);
  await using needySource = await SourceFolder.of(NEEDY);
  const steady = await TestProject.create(slipway, {
    name: "steady",
    localPath: steadySource.path,
    startCommand: "bun server.js",
    runtime: "process",
  });
  const needy = await TestProject.create(slipway, { name: "needy", localPath: needySource.path });
  await steady.deployed();
  const id = await needy.deployed();
  const visitor = new Visitor(slipway, steady.hostname);
  await expectBrokenComposeRefused(needy, needySource);
  const { containerId } = await shownService(needy, id);

  await slipway.visit(needy.hostname, "/break").catch(() => {});
  await expectShownDown(needy, id);
  const refused = await needy.call("POST", `/api/deployments/${id}/restart`);
  expect([refused.status, refused.body.code]).toEqual([400, "restart_failed"]);

  visitor.pause();
  await slipway.kill();
  await slipway.start();
  expect(await steady.page()).toBe("v1");
  expect((await shownService(needy, id)).status).not.toBe("running");
  visitor.goOn();
  await expectShownDown(needy, id);

  // Repairs what it needs.
  await using mended = await SourceFolder.of({ broken: "" });
  await server.docker("cp", `${mended.path}/broken`, `${containerId}:/broken`);
  await expectShownBack(needy, id);
  await visitor.stop();
  expect(visitor.failures).toEqual([]);
});
