import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type BinaryName, provideBinaries } from "../../../src/cli/control-plane/binaries.ts";
import { kubernetesVersion } from "../../../src/cli/control-plane/go.ts";
import { mooring, start } from "../../processes.ts";
import { type FakeGo, fakeGo } from "./fake-go.ts";

let go: FakeGo;
beforeEach(() => {
  go = fakeGo();
});
afterEach(() => go.remove());

const provide = (names: BinaryName[], env: NodeJS.ProcessEnv = go.env, patienceMs = 60_000) =>
  provideBinaries(names, { env, patienceMs });
const content = (folder: string, name: string) => readFileSync(join(folder, name), "utf8").trim();
const buildInProcess = (name: BinaryName) => start(mooring, ["cluster", "build", name], { env: go.env });

describe("the control plane's binaries", () => {
  it("are built where no release can be had, only those asked for, and only once", async () => {
    const folder = await provide(["etcd", "kube-apiserver"]);
    expect(readdirSync(folder).sort()).toEqual(["etcd", "kube-apiserver"]);
    expect(await provide(["etcd", "kube-apiserver"])).toBe(folder);
    await provide(["etcd", "kubectl"]);
    expect(go.builds()).toEqual(["v3", "kube-apiserver", "kubectl"]);
  });

  it("are built one after the other, the controller manager last, and each says how long it usually takes", async () => {
    const steps: string[] = [];
    const onProgress = (step: string, seconds: number) => void (seconds === 0 && steps.push(step));
    await provideBinaries(["etcd", "kube-apiserver", "kube-controller-manager"], {
      env: go.env,
      patienceMs: 60_000,
      onProgress,
    });
    expect(steps.filter((step) => step.startsWith("building") && !step.includes("setup-envtest"))).toEqual([
      "building etcd (1 of 3, once; usually a minute on two cores)",
      "building kube-apiserver (2 of 3, once; usually 4 to 5 minutes on two cores)",
      "building kube-controller-manager (3 of 3, once; usually 3 minutes on two cores)",
    ]);
  });

  it("are stamped with the version that go.mod pins", async () => {
    await provide(["kubectl"]);
    const version = kubernetesVersion();
    expect(version).toMatch(/^v1\.\d+\.\d+$/);
    expect(go.read("ldflags")).toContain(`-X k8s.io/component-base/version.gitVersion=${version}`);
    expect(go.read("ldflags")).toContain(`-X k8s.io/client-go/pkg/version.gitVersion=${version}`);
  });

  it("come from a release of exactly that version, except what a release does not hold", async () => {
    go.write("release", kubernetesVersion().slice(1));
    const folder = await provide(["etcd", "kube-apiserver", "kube-controller-manager"]);
    expect(content(folder, "kube-apiserver")).toBe("released");
    expect(content(folder, "kube-controller-manager")).toBe("built");
    expect(go.builds()).toEqual(["kube-controller-manager"]);
  });

  it("are built when the release host never answers", async () => {
    go.write("silence");
    const folder = await provide(["kube-apiserver"], go.env, 50);
    expect(content(folder, "kube-apiserver")).toBe("built");
    expect(go.read("asked")).toBe("list");
  });

  it("are not asked from the release host when the slow one is there", async () => {
    await provide(["kubectl"]);
    expect(go.read("asked")).toBe("");
  });

  it("are taken from KUBEBUILDER_ASSETS, which must hold all that is needed", async () => {
    const folder = await provide(["etcd", "kubectl"]);
    const env = { ...go.env, KUBEBUILDER_ASSETS: folder };
    expect(await provide(["kubectl"], env)).toBe(folder);
    await expect(provide(["etcd", "kube-apiserver"], env)).rejects.toThrow(
      `KUBEBUILDER_ASSETS is ${folder}, which lacks kube-apiserver: put it there, or unset KUBEBUILDER_ASSETS`,
    );
  });

  it("leave a message with the ways out where there is no Go", async () => {
    await expect(provide(["etcd", "kube-apiserver"], { ...go.env, PATH: "/nowhere" })).rejects.toThrow(
      /Go is needed .* was not found: install Go 1\.26 or newer, or set KUBEBUILDER_ASSETS to a folder with etcd, kube-apiserver$/,
    );
  });

  it("leave a message with the ways out where Go is too old", async () => {
    go.write("version", "go1.18.10");
    await expect(provide(["etcd"])).rejects.toThrow(/^go1\.18\.10 is too old .*: install Go 1\.26 or newer, or set/);
    go.write("refusal", "go.mod requires go >= 1.26.0");
    await expect(provide(["etcd"])).rejects.toThrow(
      /^this Go cannot .*\(go\.mod requires go >= 1\.26\.0\): install Go/,
    );
  });

  it("leave nothing half made when the build fails, and say what Go said", async () => {
    go.write("broken");
    await expect(provide(["etcd"])).rejects.toThrow(/go build go\.etcd\.io.* failed:\nundefined: everything/);
  });

  it("are built by one of two processes while the other waits for it", async () => {
    go.write("slow");
    const first = buildInProcess("etcd");
    await expect.poll(go.builds).toEqual(["v3"]);
    const second = buildInProcess("etcd");
    await expect.poll(second.output).toContain(`waiting for process ${first.pid}`);
    go.write("go");
    expect(await Promise.all([first.ended, second.ended])).toEqual([0, 0]);
    expect(go.builds()).toEqual(["v3"]);
  });

  it("are built by the second process when the first is killed over it", async () => {
    go.write("slow");
    const first = buildInProcess("etcd");
    await expect.poll(go.builds).toEqual(["v3"]);
    const second = buildInProcess("etcd");
    await expect.poll(second.output).toContain(`waiting for process ${first.pid}`);
    first.signal("SIGKILL");
    await expect.poll(go.builds).toEqual(["v3", "v3"]);
    go.write("go");
    expect(await second.ended).toBe(0);
  });

  it("can be interrupted while they are built", async () => {
    go.write("slow");
    const build = buildInProcess("etcd");
    await expect.poll(go.builds).toEqual(["v3"]);
    build.signal("SIGINT");
    expect(await build.ended).toBe(130);
  });
});
