import type { AssetPackages } from "../node/asset_packages.ts";
import type { DetectedVariable } from "../../detection.ts";
import type { Finding } from "../../ecosystem.ts";
import type { ProjectFolder } from "../../project_folder.ts";
import type { RubyGems } from "./gems.ts";

/** Names of the files that are read. */
export const RAILS_MANIFESTS = ["database.yml", "production.rb", "puma.rb", "cable.yml", "storage.yml"];

const READ_FROM = [
  "config/database.yml",
  "config/environments/production.rb",
  "config/puma.rb",
  "config/cable.yml",
  "config/storage.yml",
];
const VARIABLE = /ENV(\.fetch\(|\[)[ \t]{0,9}["']([A-Z][A-Z0-9_]{1,99})["'][ \t]{0,9}(\)[ \t]{0,9}(?:\{|do\b)|[\]),])/g;
/** Set by the platform that runs the program, or only to override a default. */
const GIVEN = /^(?:PORT|PIDFILE|RAILS_.*|WEB_CONCURRENCY|BUNDLE_GEMFILE|DB_POOL|SOLID_.*|JOB_CONCURRENCY)$/;
const ASSET_GEMS = [
  "sprockets-rails",
  "propshaft",
  "importmap-rails",
  "jsbundling-rails",
  "cssbundling-rails",
  "tailwindcss-rails",
  "dartsass-rails",
  "sassc-rails",
  "vite_rails",
  "webpacker",
  "shakapacker",
];
const ENVIRONMENT = 'RAILS_ENV="${RAILS_ENV:-production}"';

/** Returns whether a folder contains a Rails application. */
export function isRails(folder: ProjectFolder, gems: RubyGems): boolean {
  return folder.has("config/application.rb") && (gems.installs("rails") || gems.installs("railties"));
}

/** Describes a Rails application. */
export function railsApplication(folder: ProjectFolder, gems: RubyGems, assets: AssetPackages | undefined): Finding {
  const [major = 0, minor = 0] = (gems.version("rails") ?? "0").split(".").map(Number);
  const isNew = major > 7 || (major === 7 && minor >= 1);
  const hasAssets = folder.hasFolder("app/assets") || ASSET_GEMS.some((name) => gems.has(name));
  const secret = isNew ? "SECRET_KEY_BASE_DUMMY=1" : "SECRET_KEY_BASE=unused";
  // Before 7.1, Rails served static files and logged to stdout only if these were set.
  const settings = isNew ? "" : "RAILS_SERVE_STATIC_FILES=1 RAILS_LOG_TO_STDOUT=1 ";
  const compile = `${ENVIRONMENT} ${secret} bundle exec rails assets:precompile`;
  const build = [
    ...(assets?.build !== undefined && !usesBundling(gems) ? [assets.build] : []),
    ...(hasAssets ? [compile] : []),
  ];
  return {
    framework: "rails",
    port: 3000,
    buildCommand: build.length === 0 ? null : build.join(" && "),
    startCommand: `${ENVIRONMENT} ${settings}bundle exec rails server -b 0.0.0.0 -p $PORT`,
    env: variables(folder, gems),
  };
}

/** With these gems, precompiling the assets also runs the build script of package.json. */
function usesBundling(gems: RubyGems): boolean {
  return ["jsbundling-rails", "cssbundling-rails", "vite_rails", "webpacker", "shakapacker"].some((name) =>
    gems.has(name),
  );
}

function variables(folder: ProjectFolder, gems: RubyGems): DetectedVariable[] {
  const found = new Map<string, boolean>();
  const isSealed = folder.first(["config/credentials.yml.enc", "config/credentials/production.yml.enc"]) !== undefined;
  found.set(isSealed ? "RAILS_MASTER_KEY" : "SECRET_KEY_BASE", true);
  if (["pg", "mysql2", "trilogy"].some((name) => gems.has(name))) found.set("DATABASE_URL", true);
  for (const path of READ_FROM) {
    for (const [, how, key, end] of (folder.text(path) ?? "").matchAll(VARIABLE)) {
      if (GIVEN.test(key!)) continue;
      const required = how === ".fetch(" && end === ")";
      found.set(key!, required || found.get(key!) === true);
    }
  }
  return Array.from(found, ([key, required]) => ({ key, required }));
}
