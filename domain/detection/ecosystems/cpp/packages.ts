/** Libraries by their names in build files, with the Debian packages that are needed to build and to run with them. */
const PACKAGES: Readonly<Record<string, readonly [build: string, run: string | null]>> = {
  boost: [
    "libboost-all-dev",
    "libboost-date-time1.74.0 libboost-filesystem1.74.0 libboost-log1.74.0 libboost-program-options1.74.0 libboost-regex1.74.0 libboost-system1.74.0 libboost-thread1.74.0",
  ],
  openssl: ["libssl-dev", "libssl3"],
  curl: ["libcurl4-openssl-dev", "libcurl4"],
  libcurl: ["libcurl4-openssl-dev", "libcurl4"],
  zlib: ["zlib1g-dev", "zlib1g"],
  sqlite3: ["libsqlite3-dev", "libsqlite3-0"],
  postgresql: ["libpq-dev", "libpq5"],
  libpq: ["libpq-dev", "libpq5"],
  libpqxx: ["libpqxx-dev", "libpqxx-6.4"],
  mysql: ["default-libmysqlclient-dev", "libmariadb3"],
  jsoncpp: ["libjsoncpp-dev", "libjsoncpp25"],
  nlohmann_json: ["nlohmann-json3-dev", null],
  fmt: ["libfmt-dev", "libfmt9"],
  spdlog: ["libspdlog-dev", "libspdlog1.10"],
  protobuf: ["libprotobuf-dev protobuf-compiler", "libprotobuf32"],
  libuv: ["libuv1-dev", "libuv1"],
  libevent: ["libevent-dev", "libevent-2.1-7"],
  libmicrohttpd: ["libmicrohttpd-dev", "libmicrohttpd12"],
  asio: ["libasio-dev", null],
  httplib: ["libcpp-httplib-dev", "libcpp-httplib0.11"],
  "cpp-httplib": ["libcpp-httplib-dev", "libcpp-httplib0.11"],
  yaml_cpp: ["libyaml-cpp-dev", "libyaml-cpp0.7"],
  "yaml-cpp": ["libyaml-cpp-dev", "libyaml-cpp0.7"],
};
/** Names in build files that are not libraries to install. */
const BUILT_IN = new Set(["threads", "pkgconfig", "git", "doxygen", "gtest", "catch2", "python3"]);

/** Returns the Debian packages of libraries, and the libraries without a known package. */
export function cppPackages(libraries: readonly string[]) {
  const known = [...new Set(libraries.map((name) => name.toLowerCase()))].filter((name) => !BUILT_IN.has(name));
  const found = known.flatMap((name) => (Object.hasOwn(PACKAGES, name) ? [PACKAGES[name]!] : []));
  return {
    build: found.flatMap(([build]) => build.split(" ")),
    run: found.flatMap(([, run]) => run?.split(" ") ?? []),
    unknown: known.filter((name) => !Object.hasOwn(PACKAGES, name) && /^[a-z0-9_.+-]{1,50}$/.test(name)),
  };
}
