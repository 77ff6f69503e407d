import { type DeployingApp, deployingApp } from "./deploying_app.ts";

/** The address under which the self-hosted installation knows the cloud. */
export const CLOUD_URL = "https://cloud.example.com";

/** A self-hosted installation and the hosted cloud that it is linked to, both in memory. */
export async function linkedApps() {
  const cloud = await deployingApp({ mode: "cloud" });
  const home = await deployingApp();
  const connect = () => home.world.cloudApi.clouds.set(CLOUD_URL, (request) => cloud.handle(request, "192.0.2.1"));
  connect();
  const linkToken = await tokenForLink(cloud);
  const body = { url: CLOUD_URL, token: linkToken };
  const linked = await home.call("PUT", "/api/cloud/link", { token: home.owner, body });
  if (linked.status !== 200) throw new Error(linked.text);
  return {
    cloud,
    home,
    linkToken,
    /** Makes the cloud unreachable. */
    disconnect: () => void home.world.cloudApi.clouds.delete(CLOUD_URL),
    connect,
    async [Symbol.asyncDispose]() {
      await home[Symbol.asyncDispose]();
      await cloud[Symbol.asyncDispose]();
    },
  };
}

export type LinkedApps = Awaited<ReturnType<typeof linkedApps>>;

async function tokenForLink({ call, owner }: DeployingApp): Promise<string> {
  const made = await call("POST", "/api/tokens", { token: owner, body: { name: "link", link: true } });
  if (made.status !== 201) throw new Error(made.text);
  return made.body.data.token;
}
