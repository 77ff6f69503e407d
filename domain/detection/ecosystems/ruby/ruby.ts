import { type AssetPackages, assetPackages } from "../node/asset_packages.ts";
import { chosenVersion, type ChosenVersion } from "../../chosen_version.ts";
import type { Ecosystem, Finding } from "../../ecosystem.ts";
import { type ImageRecipe, recipe } from "../../image_recipe.ts";
import { NODE_VERSION_FILES } from "../node/versions.ts";
import { officialImage } from "../../official_image.ts";
import type { ProjectFolder } from "../../project_folder.ts";
import { type RubyGems, rubyGems } from "./gems.ts";
import { isRails, RAILS_MANIFESTS, railsApplication } from "./rails.ts";
import { TOOL_VERSION_FILES, toolVersion, versionFile } from "../../tool_versions.ts";

const KNOWN = { lines: ["4.0", "3.4", "3.3", "3.2", "3.1", "3.0", "2.7", "2.6"], preset: "3.4" };
const RUBY = { name: "ruby", firstOnBookworm: ["3.0.6", "3.1.4", "3.2.2", "3.3.0"] };
const PROGRAMS = ["app.rb", "main.rb", "server.rb", "web.rb", "bot.rb", "lib/main.rb"];
/** Frameworks that are served through config.ru, with their default ports. */
const RACK_FRAMEWORKS: readonly (readonly [gem: string, port: number])[] = [
  ["hanami", 2300],
  ["sinatra", 4567],
  ["roda", 9292],
  ["grape", 9292],
  ["cuba", 9292],
];
/** Gems with the system libraries that they need and the slim image lacks. */
const LIBRARIES: Readonly<Record<string, readonly string[]>> = {
  pg: ["libpq5"],
  mysql2: ["libmariadb3"],
  sqlite3: ["libsqlite3-0"],
  "ruby-vips": ["libvips42"],
  mini_magick: ["imagemagick"],
  rmagick: ["imagemagick"],
  charlock_holmes: ["libicu72"],
  tzinfo: ["tzdata"],
};
const NO_RACK = "Cannot install what serves config.ru: there is no Gemfile. Add one with rackup and puma";
const NO_START =
  "Cannot tell how to start the project: there is no config.ru, app.rb or main.rb. Set the start command";

/** Ruby programs: Rails, Rack applications, plain ones, and Jekyll pages. */
export const ruby: Ecosystem = {
  manifests: [
    "Gemfile",
    "Gemfile.lock",
    ".ruby-version",
    ...RAILS_MANIFESTS,
    ...NODE_VERSION_FILES,
    ...TOOL_VERSION_FILES,
  ],
  detect(folder) {
    const isBundled = folder.has("Gemfile");
    // Beside a package.json, a lone script is a tool.
    const alone = folder.has("package.json") ? [] : ["config.ru", "app.rb", "main.rb", "server.rb"];
    if (!isBundled && folder.first(alone) === undefined) return undefined;
    const gems = rubyGems(folder);
    const { version, warnings } = versionOf(folder, gems);
    const found = started(folder, gems, isBundled);
    const assets = found.framework === "rails" ? assetPackages(folder) : undefined;
    const described = found.framework === "rails" ? railsApplication(folder, gems, assets) : found;
    return {
      language: "ruby",
      languageVersion: version,
      packageManager: isBundled ? "bundler" : null,
      packageManagerVersion: gems.bundler ?? null,
      installCommand: isBundled ? installCommand(folder, assets) : null,
      image: imageOf(folder, { version, gems, isBundled, assets, isRails: found.framework === "rails" }),
      ...described,
      warnings: [...warnings, ...foreign(gems), ...(described.warnings ?? [])],
    };
  },
};

function started(folder: ProjectFolder, gems: RubyGems, isBundled: boolean): Finding {
  const run = isBundled ? "bundle exec " : "";
  if (isRails(folder, gems)) return { framework: "rails" };
  if (folder.has("_config.yml") && (gems.has("jekyll") || gems.has("github-pages"))) {
    return {
      framework: "jekyll",
      projectType: "static",
      buildCommand: "JEKYLL_ENV=production bundle exec jekyll build",
      outputDirectory: "_site",
    };
  }
  const framework = RACK_FRAMEWORKS.find(([gem]) => gems.has(gem));
  if (folder.has("config.ru")) {
    const known = { framework: framework?.[0] ?? "rack", port: framework?.[1] ?? 9292 };
    return { ...known, startCommand: rackCommand(gems, run), warnings: isBundled ? [] : [NO_RACK] };
  }
  const program = folder.first(PROGRAMS);
  if (program === undefined) return { framework: framework?.[0] ?? null, warnings: [NO_START] };
  if (framework?.[0] === "sinatra") {
    const startCommand = `APP_ENV="\${APP_ENV:-production}" ${run}ruby ${program} -o 0.0.0.0 -p $PORT`;
    return { framework: "sinatra", port: 4567, startCommand };
  }
  return { framework: framework?.[0] ?? null, port: 3000, startCommand: `${run}ruby ${program}` };
}

/** The command that serves config.ru with the server among the gems. */
function rackCommand(gems: RubyGems, run: string): string {
  const environment = 'RACK_ENV="${RACK_ENV:-production}"';
  if (gems.installs("puma")) return `${environment} ${run}puma -b tcp://0.0.0.0:$PORT`;
  if (gems.installs("unicorn")) return `${environment} ${run}unicorn -o 0.0.0.0 -p $PORT`;
  if (gems.installs("falcon")) return `${environment} ${run}falcon serve --bind http://0.0.0.0:$PORT`;
  if (gems.installs("thin")) return `${environment} ${run}thin start -a 0.0.0.0 -p $PORT`;
  return `${environment} ${run}rackup -o 0.0.0.0 -p $PORT`;
}

/**
 * Installs gems into the project's own folder, where the running program finds them; Bundler keeps its settings there
 * too.
 */
function installCommand(folder: ProjectFolder, assets: AssetPackages | undefined): string {
  const settings = folder.has("Gemfile.lock") ? "deployment true" : "path vendor/bundle";
  return [
    `bundle config set --local ${settings}`,
    "bundle config set --local without development:test",
    "bundle install",
    ...(assets === undefined ? [] : [assets.install]),
  ].join(" && ");
}

function versionOf(folder: ProjectFolder, gems: RubyGems): ChosenVersion {
  const place = folder.outward().find((one) => one.has(".ruby-version")) ?? folder;
  return chosenVersion(
    "Ruby",
    [
      { from: ".ruby-version", wanted: versionFile(place, ".ruby-version")?.replace(/^ruby-/, "") },
      { from: "Gemfile", wanted: gems.ruby },
      { from: "Gemfile.lock", wanted: gems.lockedRuby },
      { from: "mise.toml or .tool-versions", wanted: toolVersion(folder, ["ruby"]) },
    ],
    KNOWN,
  );
}

/** Warns about a lockfile for other platforms only, which Bundler refuses. */
function foreign({ platforms }: RubyGems): string[] {
  if (platforms.length === 0 || platforms.some((name) => name === "ruby" || name.includes("linux"))) return [];
  const names = platforms.slice(0, 5).join(", ");
  return [
    `Cannot install from Gemfile.lock on Linux: it is made for ${names}. Run bundle lock --add-platform x86_64-linux aarch64-linux, and commit it`,
  ];
}

interface RubyBuild {
  readonly version: string;
  readonly gems: RubyGems;
  readonly isBundled: boolean;
  readonly isRails: boolean;
  readonly assets: AssetPackages | undefined;
}

function imageOf(
  folder: ProjectFolder,
  { version, gems, isBundled, isRails: onRails, assets }: RubyBuild,
): ImageRecipe {
  const libraries = Object.entries(LIBRARIES).flatMap(([name, packages]) => (gems.installs(name) ? packages : []));
  const read = ["Gemfile", "Gemfile.lock", ".ruby-version", ".tool-versions"].filter((path) => folder.has(path));
  // Gems in folders of the project are sources, so installing needs all files.
  const needsAll = /\bpath:|:path\b|^gemspec\b/m.test(folder.text("Gemfile") ?? "");
  return recipe(officialImage(RUBY, version, "slim"), {
    buildImage: officialImage(RUBY, version),
    runPackages: [...new Set([...libraries, ...(onRails ? ["tzdata"] : [])])],
    setup: assets?.setup ?? [],
    manifests: isBundled && !needsAll ? [...read, ...(assets?.manifests ?? [])] : [],
    caches: isBundled ? ["/root/.bundle/cache", ...(assets?.caches ?? [])] : [],
    // By default, the official images keep Bundler's settings elsewhere.
    environment: {
      BUNDLE_APP_CONFIG: ".bundle",
      BUNDLE_GLOBAL_GEM_CACHE: "true",
      ...(onRails && { RAILS_ENV: "production" }),
    },
  });
}
