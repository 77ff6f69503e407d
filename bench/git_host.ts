import { OctokitClients } from "../adapters/githost/octokit_clients.ts";
import { OctokitRepositories } from "../adapters/githost/octokit_repositories.ts";
import { repositoryFrom } from "../adapters/githost/repository_from.ts";
import type { Repository } from "../domain/githost/repository.ts";
import { Secret } from "../domain/secret.ts";
import type { HostAccess } from "../ports/githost/host_access.ts";
import { inRounds } from "./rounds.ts";
import type { Result } from "./run.ts";

const REPOSITORIES = 1_500;
const ROUNDS = 11;
/** Lists in a round, because one takes only some milliseconds. */
const LISTS = 5;
const WARM_UPS = 15;
const NEVER = new AbortController().signal;

/** Lists 1,500 repositories for the first time, compared with the same pages by plain `fetch`, one after the other. */
export async function reposList(): Promise<Result> {
  await using host = await startHost();
  // What was sent to one login is not remembered for another.
  return await compare(host.url, (list) => `ghp_bench_${list}`, "at most 1.2");
}

/** Lists them again, when the host only has to say that no page has changed. */
export async function reposListAgain(): Promise<Result> {
  await using host = await startHost();
  return await compare(host.url, () => "ghp_bench", "at most 0.1");
}

async function compare(url: string, tokenOf: (list: number) => string, limit: string): Promise<Result> {
  const repositories = new OctokitRepositories(new OctokitClients({ apiUrl: url, webUrl: url }));
  const list = async (token: string) => (await repositories.list(accessOf(token), NEVER)).length;
  for (let index = 0; index < WARM_UPS; index++) {
    await list(`warm-up-${index}`);
    await barePages(url, "warm-up");
  }
  const { ratio, ours, other, spread } = await inRounds(ROUNDS, {
    ours: (round) => timeOf((index) => list(tokenOf(round * LISTS + index))),
    other: (round) => timeOf((index) => barePages(url, tokenOf(round * LISTS + index))),
  });
  return { ratio, details: `slipway ${ours.toFixed(1)} ms, bare ${other.toFixed(1)} ms, ${spread}, ${limit}` };
}

function accessOf(token: string): HostAccess {
  return { kind: "token", token: new Secret(token) };
}

/** Follows the links of the pages, and keeps of each repository what Slipway keeps. */
async function barePages(url: string, token: string): Promise<number> {
  const found: Repository[] = [];
  let next: string | undefined = `${url}/user/repos?per_page=100`;
  while (next !== undefined) {
    const answer: Response = await fetch(next, { headers: { authorization: `Bearer ${token}` } });
    const page = (await answer.json()) as Parameters<typeof repositoryFrom>[0][];
    found.push(...page.map(repositoryFrom));
    next = /<([^<>]+)>; rel="next"/.exec(answer.headers.get("link") ?? "")?.[1];
  }
  return found.length;
}

async function timeOf(list: (index: number) => Promise<number>): Promise<number> {
  const started = performance.now();
  for (let index = 0; index < LISTS; index++) {
    const found = await list(index);
    if (found !== REPOSITORIES) throw new Error(`${found} repositories were found`);
  }
  return (performance.now() - started) / LISTS;
}

/** Starts the git host in a process of its own, so that it does not share this one's time. */
async function startHost(): Promise<AsyncDisposable & { readonly url: string }> {
  const program = [process.execPath, `${import.meta.dir}/git_host_program.ts`, `${REPOSITORIES}`];
  const host = Bun.spawn(program, { stdio: ["ignore", "pipe", "inherit"] });
  const { value } = await host.stdout.getReader().read();
  return {
    url: new TextDecoder().decode(value).trim(),
    async [Symbol.asyncDispose]() {
      host.kill();
      await host.exited;
    },
  };
}
