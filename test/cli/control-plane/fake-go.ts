import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Behaves like Go, with small scripts as binaries. A build is recorded in the file `builds`; while the file `slow`
 * exists, it waits for the file `go`. The file `release` makes setup-envtest offer that version; the file `silence`
 * makes it never answer.
 */
const script = `#!/bin/sh
cd "$FAKE_GO"
case $1 in
env) [ -e refusal ] && { cat refusal >&2; exit 1; }; cat version; exit ;;
esac
while [ "$1" != -o ]; do [ "$1" = -ldflags ] && echo "$2" >ldflags; shift; done
case $3 in
*/setup-envtest) cat >"$2" <<'TOOL'
#!/bin/sh
cd "$FAKE_GO"
echo "$1" >>asked
[ -e silence ] && exec sleep 1000000
case $1 in
list) [ -e release ] || { echo "no such host" >&2; exit 2; }; echo "(available)  v$(cat release)  linux/amd64" ;;
use) printf '%s' "$FAKE_GO/released" ;;
esac
TOOL
  ;;
*)
  echo "\${3##*/}" >>builds
  while [ -e slow ] && [ ! -e go ]; do sleep 0.05; done
  [ -e broken ] && { echo "undefined: everything" >&2; exit 1; }
  echo built >"$2" ;;
esac
chmod +x "$2"
`;

export interface FakeGo {
  readonly env: NodeJS.ProcessEnv;
  /** Built packages, in order. */
  builds(): string[];
  write(name: string, content?: string): void;
  read(name: string): string;
  remove(): void;
}

/** A fake Go on PATH, with an empty cache for Mooring. */
export function fakeGo(version = "go1.26.1"): FakeGo {
  const folder = mkdtempSync(join(tmpdir(), "mooring-fake-go-"));
  const at = (name: string) => join(folder, name);
  const write = (name: string, content = "") => writeFileSync(at(name), content);
  const read = (name: string) => (existsSync(at(name)) ? readFileSync(at(name), "utf8").trim() : "");
  mkdirSync(at("bin"));
  write("bin/go", script);
  chmodSync(at("bin/go"), 0o755);
  write("version", version);
  mkdirSync(at("released"));
  for (const name of ["etcd", "kube-apiserver", "kubectl"]) {
    write(`released/${name}`, "released");
    chmodSync(at(`released/${name}`), 0o755);
  }
  return {
    env: { PATH: `${at("bin")}:/usr/bin:/bin`, FAKE_GO: folder, HOME: at("home"), XDG_CACHE_HOME: at("cache") },
    builds: () => read("builds").split("\n").filter(Boolean),
    write,
    read,
    remove: () => rmSync(folder, { recursive: true }),
  };
}
