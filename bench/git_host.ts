import { OctokitClients } from "../adapters/githost/octokit_clients.ts";
import { OctokitRepositories } from "../adapters/githost/octokit_repositories.ts";
import type { Repository } from "../domain/githost/repository.ts";
import { Secret } from "../domain/secret.ts";
import { inRounds } from "./rounds.ts";
import type { Result } from "./run.ts";

const REPOSITORIES = 1_500;
const ROUNDS = 25;
const TOKEN = "ghp_bench";
const NEVER = new AbortController().signal;

/** Lists 1,500 repositories for the first time, compared with the same pages by plain `fetch`, one after the other. */
export async function reposList(): Promise<Result> {
  await using host = await startHost();
  return await compare(host.url, () => adapter(host.url), "at most 1.2");
}

/** Lists them again, when the host only has to say that no page has changed. */
export async function reposListAgain(): Promise<Result> {
  await using host = await startHost();
  const same = adapter(host.url);
  return await compare(host.url, () => same, "at most 0.1");
}

async function compare(url: string, open: () => OctokitRepositories, limit: string): Promise<Result> {
  const access = { kind: "token", token: new Secret(TOKEN) } as const;
  const ours = async () => (await open().list(access, NEVER)).length;
  const {
    ratio,
    ours: slow,
    other,
    spread,
  } = await inRounds(ROUNDS, {
    ours: () => timeOf(ours),
    other: () => timeOf(() => barePages(url)),
  });
  return { ratio, details: `slipway ${slow.toFixed(1)} ms, bare ${other.toFixed(1)} ms, ${spread}, ${limit}` };
}

function adapter(url: string): OctokitRepositories {
  return new OctokitRepositories(new OctokitClients({ apiUrl: url, webUrl: url }));
}

/** Follows the links of the pages, and keeps of each repository what Slipway keeps. */
async function barePages(url: string): Promise<number> {
  const found: Pick<Repository, "id" | "fullName" | "private" | "cloneUrl">[] = [];
  let next: string | undefined = `${url}/user/repos?per_page=100`;
  while (next !== undefined) {
    const answer: Response = await fetch(next, { headers: { authorization: `Bearer ${TOKEN}` } });
    const page = (await answer.json()) as { id: number; full_name: string; private: boolean; clone_url: string }[];
    for (const { id, full_name: fullName, private: isPrivate, clone_url: cloneUrl } of page)
      found.push({ id, fullName, private: isPrivate, cloneUrl });
    next = /<([^<>]+)>; rel="next"/.exec(answer.headers.get("link") ?? "")?.[1];
  }
  return found.length;
}

async function timeOf(work: () => Promise<number>): Promise<number> {
  const started = performance.now();
  const found = await work();
  if (found !== REPOSITORIES) throw new Error(`${found} repositories were found`);
  return performance.now() - started;
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
